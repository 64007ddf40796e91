"""The jobs of a console: their removal, and the kinds of URLs that are wanted."""
