"""The policies that Nacre's is held against. Source: reference/incremental.md 2.2, 2.3, 3.4."""
