"""How often pages change (rates), and the value of a visit (pure)."""
