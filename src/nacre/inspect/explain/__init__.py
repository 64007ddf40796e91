"""Explains why a URL was or was not crawled, its next visit, and a dry run of a URL.

`explain.py` puts an answer together: the state of the URL (`url_state.py`), what the settings, the
scope and robots.txt say (`answers.py`, which also has the records of the answer), and when it is
due (`next_visits.py`). `dry_run.py` answers before anything ran, by the same rules.
"""
