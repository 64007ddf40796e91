"""The DecideRules, a module a family; each rule is a class of settings that builds its test.

`rule.py` has their base class and the registry (`RULES`). `stock.py` registers Nacre's own rules
and defines the stock scope. The families: `combine.py` (rules made of rules), `surt.py`,
`seeds.py`, `hops.py`, `url.py`, `regex.py`, `server.py` (address and reply), `expression.py` with
its words in `expression_terms.py`, and `nutch.py` (Nutch's URL filters).
"""
