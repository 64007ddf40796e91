"""The history of URLs: what was known of each at its last visit, and deduplication (`dedup`)."""
