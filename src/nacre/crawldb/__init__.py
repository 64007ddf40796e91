"""The CrawlDb of batch rounds: its rows, how they change, which of them are fetched next (pure).

Begin with `row` (columns, groups, buckets) and `fold` (how a row is made of a base and later
differences). `select` and `units` make fetch lists, `transition` is Nutch's state machine,
`scoring` the scores, `hosts`, `dedup` and `links` the other tables, `hashing` the hash by which two
tables are compared, `settings` the section `cycle` of a configuration. `kernels` is the only module
that knows DuckDB. Nothing here opens files: DuckDB reads and writes those that it is told to.
"""
