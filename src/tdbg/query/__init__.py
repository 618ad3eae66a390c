"""Pure functions over a trace; every surface asks here and nowhere else."""
