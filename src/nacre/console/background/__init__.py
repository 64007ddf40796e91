"""Tasks that take longer than a page waits: they go on in the background, and can be asked for."""
