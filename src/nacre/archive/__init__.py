"""WARC and CDXJ files: written, read, checked, indexed, and replies stored as differences.

Writing: `record.py` assembles records (pure) from the values of `fields.py`, `warc_writer.py` puts
them into files, and `index.py` makes their index lines. Reading: `reader.py` continues after
damage, `source.py` gives it bytes, `index.py` rebuilds the index. `check.py` verifies files by
the rules of `check_rules.py`; `findings.py` lists its findings. Versions that are stored as
differences: `delta.py` makes and reads them (pure), `restoring.py` rebuilds the replies.
"""
