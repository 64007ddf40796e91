"""A configuration directory of Nutch becomes a job.

`conf.py` reads properties and finds rule files; what differs from the stock values (`defaults.py`)
is mapped by `values.py`, `urls.py`, `schedule.py`, `agent.py` and `plugins.py`; `others.py` says
why the rest needs no setting, and `unknown.py` asks what others have added. `convert.py` is the
whole.
"""
