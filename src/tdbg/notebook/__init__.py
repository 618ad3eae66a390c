"""Cells of a notebook in; their trace, the verdict and the page below the cell out. Loaded by ``%load_ext tdbg``."""
