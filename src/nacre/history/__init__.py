"""What was known last time."""
