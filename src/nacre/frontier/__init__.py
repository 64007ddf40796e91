"""Which URI next, and when: per-host queues in the store, of which few are in memory.

`frontier.py` is the whole, and synchronous: it is told the time, and never waits. Decisions without
effects stand in `policy.py`, `precedence.py`, `cost.py`, `assignment.py` and `backoff.py`. Rows are
packed in `rows.py` and lie on the `shelf.py`; `seen.py` says what is known. A queue (`queues.py`)
gets its turn by `turns.py` and `rotation.py`, `handout.py` takes a URI out of it, and
`courtesy.py`, `groups.py` and `slots.py` are polite beyond one queue and beyond one job. Operators
come in by `steering.py`, `listing.py` and `removal.py`.
"""
