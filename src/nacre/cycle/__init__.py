"""Batch rounds: inject, generate, fetch, update, again and again, over tables of files.

How to read it: `storage` keeps named files, on a local disk or in a bucket. `versions.py` says
which of them are the state: a version is one JSON file, created exclusively, that names manifests,
segments and archive. `tables.py` has the files of a table and how a task makes one; `engine` runs
tasks on this machine or on Spark. The steps (`steps`) are made of tasks, the rounds of steps; what
a row means stands in `nacre.crawldb`. Nothing of this is imported by `nacre crawl`.
"""
