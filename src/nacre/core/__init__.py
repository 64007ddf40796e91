"""The vocabulary that the stages share; they never import each other, only this. Pure.

Data of a crawl: `crawluri.py` (URIs of the frontier), `processor.py` (a `Visit`: one fetch of a
URI, and the protocols of its processors), `capture.py` (one exchange as it crossed the wire),
`status.py` (the table of outcomes). What stays: `history.py`, with the fetch log, and the rows of
incremental crawling (`pagerow.py`). `clock.py` is a protocol: who needs the time takes `now`, or is
given a clock.
"""
