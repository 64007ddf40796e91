"""The engine: one trip of a URI after the other, from the frontier to the commit.

Begin with `engine.py` (the toes), then `disposition.py` (the end of a visit) and `steps/archive.py`
(its WARC records). `observer.py` defines the observers of a crawl. `steps/` has the processors,
`chain/` their order; `candidates/` takes a link to the frontier, and `seeding/` reads seeds.
"""
