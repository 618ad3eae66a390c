"""Reads a trace: rows, ops, functions, stacks and source lines, and what was recorded at all."""
