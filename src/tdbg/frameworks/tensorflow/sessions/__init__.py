"""Everything about Sessions of TensorFlow 1: recording them, dumping them, and reading the dumps."""
