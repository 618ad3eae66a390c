"""Everything that imports TensorFlow."""
