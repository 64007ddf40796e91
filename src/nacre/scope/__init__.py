"""Decides which URIs are crawled: DecideRules, robots.txt, Nutch's filters and normalizers. Pure.

A scope (`scope.py`) is a list of rules, each a component that builds a predicate. The last rule
that accepts or rejects decides, and the decision contains its name. The rules are in `rules/`, one
module for each family; `compile.py` builds a scope from them. `subject.py` defines the facts about
a URI that rules can use, and at which places. State that changes while rules run is in a
`ScopeState` (`state.py`), which is passed in, with the effect of seeds (`seed_scope.py`).
Expressions of operators run in linear time (`patterns/`). `heritrix.py` translates Heritrix's
names, and `rules/stock.py` builds the stock scope, also from command-line options.
"""
