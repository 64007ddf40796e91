"""Jobs of Heritrix: beans of version 3, an order of version 1; both become one form, then a job.

`spring.py` and `order.py` read either into `beans.py`; `placeholders.py` does what Spring would
fill in and override, with the values of `expressions.py`; `classes.py` asks what classes stand for
that no table has. `convert.py` is the whole. Tables have the settings for the properties of a class
(`mappings.py`); `scope.py`, `chains.py`, `sheets.py`, `seeds.py`, `agent.py` and `parts.py` convert
what a table cannot say. `work.py` is the state of a migration.
"""
