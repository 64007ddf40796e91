"""Java's regular expressions in the syntax that RE2 and `regex` share. Pure.

`translate.py` walks over an expression; `classes.py`, `properties.py` and `charset.py` have Java's
character classes, which are the difference. What cannot be translated is an error that says why.
"""
