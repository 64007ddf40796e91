"""The chains: lists of processors that a configuration can change. Source: Heritrix 3.

An entry is a component (`entry.py`) whose class says what it gives and needs; `stock.py` has those
of the stock chains, `table.py` all that can be named. `editing.py` makes the entries of what
`crawl.yaml` says, `soundness.py` finds what cannot work together, and `plan.py` makes for each
combination of sheets the steps that do something under it. Further processors: `content.py`,
`links.py`, `binaries.py`, `mapping.py`, `rescheduling.py`.
"""
