"""Reads a trace: rows, ops, functions, stacks and source lines, and what was recorded at all."""

from tdbg.query.trace import earlier as earlier  # completes the ops of older traces, whatever asks for them first
