"""Reads and writes TensorFlow's DebugEvents directories; TensorFlow itself is not needed for either."""
