"""Steps beyond a thousand, tensors of four dimensions, names that differ at their ends, and one NaN deep inside."""

import numpy as np
import tensorflow as tf

import tdbg

images = np.ones((12, 16, 20, 3), np.float32)
images[7, 3, 5, 1] = -1.0
images[9, 0, 2, 2] = -1.0


@tf.function
def computed(given):
    with tf.name_scope("a_scope_with_a_name_that_fills_all_of_the_column"):
        return tf.math.log(tf.nn.relu(given) + given)


for step in range(1200, 1203):
    tdbg.step(step)
    computed(tf.constant(images))
