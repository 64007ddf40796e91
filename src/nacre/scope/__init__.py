"""May we? DecideRules, robots.txt, and the filters and normalizers of Nutch. Pure.

A scope (`scope.py`) is a list of rules, each a component that builds a predicate; the last one that
speaks decides, and is named. The rules lie in `rules/`, a module a family; `compile.py` makes a
scope of them. `subject.py` is what they may ask of a URI, and where; what changes while they run is
a `ScopeState` (`state.py`) that is passed in, with what seeds imply (`seed_scope.py`). Operators'
expressions go through `patterns/`, in linear time. `heritrix.py` knows Heritrix's names, and
`rules/stock.py` the stock scope, also with the options of the command line.
"""
