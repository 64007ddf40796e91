"""The phases of a step, each of which chooses visits of one kind (pure)."""
