"""Events to disk and back; knows no framework."""
