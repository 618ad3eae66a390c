"""Dump folders of Sessions (what TensorFlow's first debugger writes) ↔ traces, without TensorFlow."""
