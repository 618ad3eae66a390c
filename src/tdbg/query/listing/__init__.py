"""Lists tensors, ops, layers and groups so that ten million rows stay fast."""
