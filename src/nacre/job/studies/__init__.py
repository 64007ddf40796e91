"""Studies of what the visits of a job have shown; each becomes a report of `nacre report`.

A study computes a struct from `Known` (`known.py`; `stored.py` reads it from the store and the
indexes) and makes a `Document` of it, in the same module or, where that is long, in one of its name
with `_page`. `table.py` names them all.
"""
