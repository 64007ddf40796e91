"""The URL filters of Nutch, which read its rule files unchanged.

Each kind of file has a module: `regexes.py`, `domains.py`, `affixes.py`, `fast.py`, `validator.py`.
`filters.py` has them by name and the chain that a URL must pass, `rules.py` makes DecideRules of
them. `automaton.py` and `derivative.py` match the expressions of dk.brics.automaton.
"""
