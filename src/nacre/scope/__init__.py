"""May we? DecideRules, robots.txt, and the filters and normalizers of Nutch. Pure.

A scope is a list of rules, each a component that builds a predicate; the last one that speaks
decides, and is named (`rule.py`, `compile.py`). The rules lie by what they look at: `surtrules.py`,
`urlrules.py`, `regexrules.py`, `hoprules.py`, `seedrules.py`, `addressrules.py`, `replyrules.py`;
`subject.py` is what they may ask of a URI, and where. What changes while they run is a `ScopeState`
(`state.py`) that is passed in. Operators' expressions go through `patterns.py`, in linear time.
"""
