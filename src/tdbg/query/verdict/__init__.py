"""Where bad values began, why, and how that is told."""
