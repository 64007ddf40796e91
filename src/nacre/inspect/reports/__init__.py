"""The reports of a run, as Heritrix has them, and what every report is.

`base.py` defines a report, `source.py` provides the data of the reports of a run; `run_reports.py`
lists them and writes their files.
"""
