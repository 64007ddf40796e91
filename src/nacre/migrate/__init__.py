"""Configurations of other crawlers become jobs, with a report of what became of each property.

`heritrix/` reads jobs of Heritrix 1 and 3, `nutch/` configuration directories of Nutch. Both put
settings with their reasons into a `Draft` (`draft.py`) and say a `Fate` (`fate.py`) of everything
that they read: mapped, the default anyway, to be checked, or without an equivalent (`report.py`).
"""
