"""Sessions of TensorFlow 1 (tf.compat.v1) under the debugger, and what was dumped of them."""
