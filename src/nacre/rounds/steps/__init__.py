"""The steps of a batch crawl, each a driver and its tasks.

`context.py` is the context of all steps. `inject.py` adds seeds; `generate.py` chooses URLs to
fetch, after `judging.py` has applied changed rules; `fetch.py` runs the units of a segment;
`update.py` merges fetch results into the tables.
"""
