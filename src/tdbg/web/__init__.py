"""Serves traces over HTTP: a page, and the JSON that it is made of. What is shown comes from ``query``."""
