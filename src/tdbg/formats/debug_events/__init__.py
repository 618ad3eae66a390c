"""TensorFlow's DebugEvents directories in, traces out, and back; TensorFlow itself is not needed for either."""
