"""Captures of jobs, collections and files of other crawlers: where they are, and how to find them.

Begin with `captures.py`, which reads a line of an index. `holdings.py` says which WARCs belong
together, and `lookup.py` finds captures in their indexes. Everything is read from files: no store
of a job is opened, and a crawl does nothing for it.
"""
