"""CrawlURI to Capture: connections, TLS, names and cookies; a failure is a status, no exception.

`http.py` fetches one URL: `message.py` makes the bytes of the request, `pool.py` has an idle
connection or `dial.py` opens one, and `exchange.py` runs the conversation under limits of time and
rate. Every address is asked of `guard.py` before it is connected to; `race.py` tries several.
`dns.py` turns names into addresses. Bodies go through `spool.py`, digests are made on the way
(`digest.py`). `settings.py` is what an operator may say about all of it.
"""
