"""Reads and writes dump folders of Sessions (what TensorFlow's first debugger writes), without TensorFlow."""
