"""The terminal debugger: carries out lines that a person types, and shows what comes of them."""
