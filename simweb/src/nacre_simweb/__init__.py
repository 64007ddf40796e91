"""A simulated web with a known truth, and the scorer of what a crawler kept of it.

A world (`world.py`) is a pure function of seed, URL, time and request: `parameters.py` and
`archetypes.py` describe it, `site.py`, `life.py` and `listing.py` simulate its events, `answer.py`
builds replies; `serve.py` puts it on a port, `memory.py` and `loop.py` into the process with a
simulated clock. Policies (`policy.py`, `ours.py`, `baselines/`) are driven over it by `driver.py`
and scored from WARCs and the server's log alone (`score.py`). `goals.py` measures the goals of
incremental crawling, `paper/` repeats a published experiment. See docs/simweb.md.
"""
