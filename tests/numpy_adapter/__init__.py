"""A framework of a few functions: numpy's, as programs call them. It shows what the contract asks for."""
