"""Text to identity: parsing, canonical keys, SURT. Pure."""
