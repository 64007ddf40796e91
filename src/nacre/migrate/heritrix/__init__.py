"""Jobs of Heritrix: beans of version 3, an order of version 1; both become one form, then a job.

`spring.py` and `order.py` read either into `beans.py`; `placeholders.py` works out what Spring
would fill in (`expressions.py`), and `classes.py` asks what classes stand for that no table has
(`roles.py`); `convert.py` walks over these. What becomes of a class is said in tables
(`table_crawl.py`, `table_fetch.py`, in words of `rules.py`), and in `scope.py`, `chains.py`,
`sheets.py` and `parts.py` where a table is not enough.
"""
