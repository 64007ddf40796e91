"""The history of URLs: facts of the last visit of each, and deduplication (`dedup`)."""
