"""The CrawlDb of batch rounds: its rows, their changes, and the choice of URLs to fetch (pure).

Begin with `row` (columns, groups, buckets) and `fold` (which makes a row from a base and later
differences). `transition` is Nutch's state machine, `revisits` computes due times, `scoring` the
scores; `hosts`, `dedup` and `links` are the other tables, `settings` is the section `cycle` of a
configuration. `kernels` is the only module that imports DuckDB. No module opens files: DuckDB reads
and writes the files of its statements.
"""
