"""The captures of a job in the console: comparison and citation."""
