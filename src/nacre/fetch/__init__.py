"""CrawlURI to Capture: connections, TLS, names and cookies; a failure is a status, no exception.

`http.py` fetches one URL: `request.py` has what is asked and the bytes of it, `pool.py` an idle
connection or `dial.py` opens one, and `exchange.py` runs the conversation under limits of time and
rate. Every address is asked of `guard.py` before it is connected to. `dns.py` turns names into
addresses, by the servers that `dns_client.py` asks. Bodies go through `spool.py`, digests are made
on the way (`digest.py`). `settings.py` is what an operator may say about all of it.
"""
