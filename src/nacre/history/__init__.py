"""What was known last time: deduplication, and the planner of incremental crawling.

`dedup.py` over `crawldb.py` says what need not be stored again; `pagestore.py` keeps what is known
of pages in the store. All packages are pure: they take `now` and what a visit brought
(`visited.py`).

- `verdict/`: has a page changed, is it noise, is it gone?
- `finding/`: what is new? Lists, sitemaps, link rules, hints, and how far each can be trusted.
- `worth/`: how often does a page change, and what is a visit of it worth?
- `recrawl/`: the planner. `recrawl/planner.py` chooses in waves (`recrawl/waves.py`,
  `recrawl/ranking.py`) and learns from each visit (`recrawl/learning.py`, `recrawl/links.py`).
- `schedule/`: schedules of the operator's choice in place of the planner.
"""
