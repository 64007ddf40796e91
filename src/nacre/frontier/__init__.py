"""Which URI next, and when."""
