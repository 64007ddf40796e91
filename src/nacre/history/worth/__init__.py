"""How often pages change, and what a visit of one is worth (pure)."""
