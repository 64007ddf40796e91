"""Nutch's URL filters, from the rule files of Nutch.

`regexes.py` has what all of them read and answer, and those with expressions, whose
automata `automaton.py` translates; `filters.py` are the others, and all by name.
"""
