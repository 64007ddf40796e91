"""What was known last time: deduplication, and the planner of incremental crawling.

`dedup.py` over `crawldb.py` says what need not be stored again. The planner is `recrawl.py` (pure):
in waves it chooses pages by what a visit is worth (`recrawl_waves.py`, `ranking.py`, `value.py`),
and learns from each (`recrawl_learning.py`, `recrawl_links.py`, `recrawl_lists.py`). It learns how
often pages change (`rates.py`, `classes.py`, `season.py`), how far hints can be trusted
(`hints.py`), which links are new by their looks (`linkrules.py`, `linkwatch.py`), what is gone
(`deletion.py`), per site (`sites.py`). `change.py` compares two versions, without the noise that
`template.py` knows. Schedules of the operator's choice are `schedules.py` and `timetable.py`.
`pagestore.py` keeps all of it in the store. Source: reference/incremental.md.
"""
