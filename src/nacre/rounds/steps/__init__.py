"""The steps of a batch crawl, each a driver and its tasks.

`context.py` is what all of them are given. `inject.py` brings seeds in; `generate.py` chooses what
is fetched, after `judging.py` has asked changed rules; `fetch.py` runs the units of a segment;
`update.py` brings what was fetched into the tables.
"""
