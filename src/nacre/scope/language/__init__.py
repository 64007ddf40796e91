"""The language of the `expression` rule: it compares, and can do nothing else. Pure.

`tokens.py`, `parser.py` and `operators.py` make a predicate of a text, and `attributes.py` is all
that it can ask of a URI. It takes the place of Heritrix's scripts, which can run anything.
"""
