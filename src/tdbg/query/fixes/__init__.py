"""Formulas that a fix is tried with, and the statement of the user that it is written into."""
