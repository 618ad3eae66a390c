"""A trace in, one HTML file out that needs nothing else: no script, no font, no request."""
