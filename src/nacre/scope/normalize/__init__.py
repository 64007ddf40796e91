"""The URL normalizers of Nutch: a URL becomes another one before anything is asked about it.

Not to be confused with the canonical form, which is only compared. Source: reference/nutch.md 1.10.
"""
