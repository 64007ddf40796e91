"""The language of the `expression` rule: it compares, and can do nothing else. Pure."""
