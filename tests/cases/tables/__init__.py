"""One module per table, each with a `TABLE` (or `TABLES`)."""
