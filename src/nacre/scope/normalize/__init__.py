"""The URL normalizers of Nutch: a URL becomes another one before anything is asked about it.

Not to be confused with the canonical form, which is only compared. `chain.py` has them by name and
runs them; `basic.py`, `hosts.py`, `query.py` and `replace.py` are the normalizers. Source: Nutch,
`urlnormalizer` plugins.
"""
