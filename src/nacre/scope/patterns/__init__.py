"""Regular expressions of operators: matching in bounded time, and Java's dialect.

`matching.py` runs them on RE2, or with a time limit where RE2 refuses; `java.py` translates Java
syntax, with the character classes of `java_charset.py`.
"""
