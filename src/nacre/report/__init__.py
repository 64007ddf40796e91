"""What happened: logs, statistics and reports, in Heritrix's formats; and documents for people.

`stats.py` counts with each commit, `crawllog.py` writes the line of a final URI. A report is data
and a text (`report.py`); `reports.py` names them all. Studies of incremental crawling are a
`Document` (`document.py`) that `plain.py` and `html.py` render; markup is escaped in `markup.py`
and nowhere else, values are worded in `forms.py` and `units.py`.
"""
