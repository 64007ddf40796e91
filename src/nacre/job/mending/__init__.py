"""After a crash or a loss: what was salvaged is registered, what is lost is fetched again."""
