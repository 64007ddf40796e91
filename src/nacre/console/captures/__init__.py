"""The captures of a job in the console: search, details, comparison and citation."""
