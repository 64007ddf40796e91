"""The steps of a round, each a function that reads a version and commits the next."""
