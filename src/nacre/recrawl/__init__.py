"""Incremental crawling in a running job: carries choices and outcomes between job and planner."""
