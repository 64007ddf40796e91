"""URLs: parsing, normal forms, and identity. Pure.

`parse.py` makes a URL from any text of a page: normalised for the request, resolved, taken apart.
From it follow the seen key (`canonical.py`), the SURT of scope, sheets and history (`surt.py`), the
key of an index line (`indexkey.py`) and the registered domain (`domain.py`). Nothing here depends
on jobs or settings.
"""
