"""A simulated web with a known truth, and the scorer of what a crawler kept of it."""
