"""Text to identity: what a URL is, and when two of them are the same. Pure.

`parse.py` makes a URL out of whatever a page says: normalised for the request, resolved, taken
apart. From it follow the seen key (`canonical.py`), the SURT of scope, sheets and history
(`surt.py`), the key of an index line (`indexkey.py`) and the registered domain (`domain.py`).
Nothing here knows of jobs or settings.
"""
