"""Incremental crawling: what to visit again, and what a visit showed.

- `planner/` chooses pages and learns from their visits. It is pure.
- `session/` carries choices and outcomes between a running job and the planner.
"""
