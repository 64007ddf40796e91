"""The present state of the jobs: it is asked for once, for all viewers."""
