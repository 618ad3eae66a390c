"""A gamma correction with a learned exponent."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(52)
image = np.clip(rng.normal(0.3, 0.3, size=(2, 6, 6)), 0, 1).astype(np.float32)
gain = tf.Variable(1.0)

for step in range(3):
    with tf.GradientTape() as tape:
        bright = image * gain
        corrected = tf.pow(bright, 0.45)
        loss = tf.reduce_mean(tf.square(corrected - 0.5))
    gradient = tape.gradient(loss, gain)
    gain.assign_sub(0.1 * gradient)
    print(step, loss.numpy(), gradient.numpy())
