"""Follows numbers over the steps of a run, and finds what changed between them."""
