"""The terminal debugger: lines that a person types in; results, and screens that show them, out."""
