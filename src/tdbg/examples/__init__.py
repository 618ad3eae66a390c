"""Programs of TensorFlow 1 that go wrong, to try the Session debugger on: ``python -m tdbg.examples.debug_mnist``."""
