"""The change rates of pages, and the value of a visit (pure)."""
