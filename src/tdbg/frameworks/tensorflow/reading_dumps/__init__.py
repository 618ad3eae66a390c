"""Reads the dumps of tfdbg, by the names that its users know."""
