"""Incremental crawling judged by real version histories: `python -m bench.histories --help`.

A git repository of pages is served on loopback as it was at a date, Nacre crawls it by `--now`,
and its verdicts, records and forecasts are compared with the repository. Docs:
docs/incremental.md.
"""
