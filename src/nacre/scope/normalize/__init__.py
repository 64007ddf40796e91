"""Nutch's URL normalizers: an ordered chain that rewrites URLs before their keys are computed.

`chain.py` holds their settings and the chain; `basic.py` are those without rules, and
`rule_files.py` those with rule files.
"""
