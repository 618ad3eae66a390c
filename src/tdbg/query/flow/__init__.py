"""Who fed whom: where a value came from, where it went, and what became of it."""
