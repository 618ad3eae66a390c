"""Records eager ops and functions of TensorFlow 2."""
