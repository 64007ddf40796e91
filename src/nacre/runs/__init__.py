"""The runs of a job: their start, budget, and files besides the archive."""
