"""Serves traces as a page and its JSON over HTTP; what is shown comes from ``query``."""
