"""Change detection: whether a page has changed or is gone, from what a visit brought (pure)."""
