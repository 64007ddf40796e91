"""Finding what is new without asking for every page: lists, link rules, hints (pure)."""
