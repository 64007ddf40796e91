"""The planner of incremental crawling: which known pages to visit again, and when (pure)."""
