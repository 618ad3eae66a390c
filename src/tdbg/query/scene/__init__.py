"""Shows a trace to the commands of the prompt."""
