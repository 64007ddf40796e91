"""The CrawlDb of batch rounds: its rows, how they change, which of them are fetched next (pure).

Begin with `row` (columns, groups, buckets) and `fold` (how a row is made of a base and later
differences). `transition` is Nutch's state machine, `revisits` when a page is due again, `scoring`
the scores; `hosts`, `dedup` and `links` are the other tables, `settings` is the section `cycle` of
a configuration. `kernels` is the only module that knows DuckDB. Nothing here opens files: DuckDB
reads and writes those that it is told to.
"""
