"""Capture to WARC and CDXJ, and back: writing, reading, verifying, and storing differences.

Writing: `record.py` assembles records (pure), `segment.py` puts them into files that are named by
`filename.py`, and `cdxj.py` makes their index lines. Reading: `reader.py` goes on behind damage,
`source.py` gives it bytes, `index.py` makes the index anew. `check.py` verifies files by
`fieldrules.py`, `contentrules.py` and `references.py`. Versions that are stored as differences:
`patch.py` and `delta.py` (pure), `restoring.py` and `basefiles.py`.
"""
