"""Nacre, an archival web crawler.

The life of a URI, which is also the order of the folders:

1. `uri` turns text into an identity: the URL to request, its canonical key, its SURT.
2. `scope` says ACCEPT or REJECT, and which rule decided.
3. `frontier` keeps what was accepted, one queue per host, and hands out what may go now.
4. `fetch` makes a `core.Capture`: the bytes exactly as they crossed the wire (`wire` reads them).
5. `extract` finds the outlinks, which start again at 1.
6. `archive` writes the WARC records and the index; `history` remembers; `report` tells.
7. `store` makes all of it durable in one step; `job` is where the stages meet.
"""

__version__ = "0.1.0"
