"""The policies that Nacre's is held against. Source: reference/incremental.md 2.2, 2.3, 3.4.

From those that learn nothing (`fixed.py`) over deployed and published schedulers (`adaptive.py`,
`learned.py`, `paper.py`) to those that know the truth and bound what any other can reach
(`oracles.py`). `table.py` names them; `book.py` is what they share.
"""
