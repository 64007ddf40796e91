"""The runs of a job: how one begins, what it may spend, what it leaves beside its archive."""
