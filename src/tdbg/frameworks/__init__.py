"""One folder for each framework, and the contract that it implements."""
