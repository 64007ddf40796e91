"""The reports of a run, as Heritrix has them, and what every report is.

`base.py` says what a report is, `source.py` what those of a run are made of; `run_reports.py` lists
them and writes their files.
"""
