"""Writes events to disk and reads them back; knows no framework."""
