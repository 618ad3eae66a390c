"""Writes a trace as one HTML file that needs nothing else: no script, no font, no request."""
