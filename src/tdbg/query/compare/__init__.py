"""Compares two runs and finds where they part."""
