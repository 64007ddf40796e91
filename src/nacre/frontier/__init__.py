"""The frontier: which URI next, and when. Queues by host in the store, of which few are in memory.

`frontier.py` is the whole, and synchronous: it takes the time as an argument, and never waits.
`policy.py` and `assignment.py` decide without side effects. A queue (`queues.py`) is loaded by
`queue_cache.py`; `queue_states.py` changes its state, `queue_order.py` gives it its turn, and
`dispatcher.py` takes a URI out of it. URIs are packed in `rows.py` and kept by `queue_store.py`;
`seen.py` is the set of URIs that entered before. `politeness.py` and `shared_slots.py` are polite
beyond one queue and beyond one job. `last_tries.py` ends a crawl of which only retries are left.
Operators act through `operator.py` and list URIs by `pending.py`; `settings.py` has the settings.
"""
