"""CrawlURI to Capture: connections, TLS, names and cookies; a failure is a status, no exception.

`http.py` fetches one URL: `request.py` builds the request, `pool.py` returns an idle connection or
`dial.py` opens a new connection, and `exchange.py` runs the conversation under limits of time and
rate. `guard.py` decides on every address before a connection. `dns.py` turns names into addresses,
by queries of `dns_client.py`. Bodies go through `spool.py`, digests are made on the way
(`digest.py`). `settings.py` has the settings.
"""
