"""The vocabulary that the stages share; they never import each other, only this. Pure.

What travels: `crawluri.py` (what the frontier keeps), `processor.py` (a `Visit`: one trip of one
URI, and the protocols of what works on it), `capture.py` (one exchange as it crossed the wire),
`status.py` (the table of outcomes). What stays: `history.py`, with the fetch log, and the rows of
incremental crawling (`pagerow.py`). `clock.py` is a protocol: who needs the time takes `now`, or is
given a clock.
"""
