"""A configuration directory of Nutch becomes a job.

`conf.py` reads properties and finds rule files; what differs from the stock values is mapped by
`properties.py`, `urls.py`, `schedule.py`, `seeds.py`, `cycle.py`, `writers.py` (the index) and
`plugins.py`, which also asks about plugins of other projects. `convert.py` is the whole.
"""
