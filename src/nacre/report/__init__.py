"""What happened: logs, statistics, reports, progress."""
