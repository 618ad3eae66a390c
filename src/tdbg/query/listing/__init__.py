"""Tensors, ops, layers and groups as lists that stay fast with ten million rows."""
