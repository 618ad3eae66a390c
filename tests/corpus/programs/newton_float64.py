"""Newton's method in double precision, started too far away."""

import tensorflow as tf

x = tf.Variable(3.0, dtype=tf.float64)

for step in range(40):
    with tf.GradientTape() as tape:
        value = tf.atan(x)
    slope = tape.gradient(value, x)
    x.assign_sub(value / slope)
print(x.numpy())
