"""Configurations of other crawlers become jobs, with a report on each property of the input.

`heritrix/` reads jobs of Heritrix 1 and 3, `nutch/` configuration directories of Nutch,
`browsertrix/` configurations of Browsertrix Crawler. They put settings with their reasons into a
`Draft` (`draft.py`) and state a `Conversion` of everything that they read: mapped, the default
anyway, to be checked, or without an equivalent (`report.py`).
`answers.py` has the operator's answers about unknown classes; `files.py` reads texts and XML.
"""
