"""Sessions of TensorFlow 1: every run becomes part of the trace."""
