"""A trace as commands of the prompt look at it."""
