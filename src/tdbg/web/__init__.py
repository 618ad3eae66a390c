"""Traces in, a page and its JSON over HTTP out; what is shown comes from ``query``."""
