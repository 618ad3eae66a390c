"""Numbers over the steps of a run, and what changed between them."""
