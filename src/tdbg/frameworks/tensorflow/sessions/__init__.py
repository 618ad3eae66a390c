"""Records runs of Sessions, as TensorFlow 1 has them."""
