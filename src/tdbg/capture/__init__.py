"""Turns what the host program computes into events; never raises into it."""
