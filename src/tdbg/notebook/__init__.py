"""Records cells of a notebook, and shows the verdict and the page below them. Loaded by ``%load_ext tdbg``."""
