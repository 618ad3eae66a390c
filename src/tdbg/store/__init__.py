"""Keeps events on disk and reads them back; knows no framework."""
