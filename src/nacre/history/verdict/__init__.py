"""Has a page changed, and is it gone? Verdicts on what a visit brought (pure)."""
