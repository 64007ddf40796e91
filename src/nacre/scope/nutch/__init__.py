"""Nutch's URL filters, from the rule files of Nutch.

`rule_file.py` is what all of them read and answer; `regexes.py` are those with expressions, whose
automata `automaton.py` translates; `filters.py` are the others, and all by name.
"""
