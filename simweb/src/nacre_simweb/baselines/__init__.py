"""The policies that Nacre's is held against.

From those that learn nothing (`fixed.py`) over deployed and published schedulers (`adaptive.py`,
`learned.py`, `paper.py`) to those that know the truth and bound what any other can reach
(`oracles.py`). `table.py` lists them; `book.py` is their common base.
"""
