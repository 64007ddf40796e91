"""May we? DecideRules and robots.txt. Pure."""
