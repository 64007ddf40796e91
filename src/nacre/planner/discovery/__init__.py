"""Discovery of new pages without a request to every page: lists, link rules, hints (pure)."""
