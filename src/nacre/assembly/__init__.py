"""Builds the parts of a job from its settings and its opened store."""
