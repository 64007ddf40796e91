"""Logs and statistics, written while crawling, and the formats of reports.

`crawllog.py`, `progress.py` and `statistics.py` are written with each commit or at an interval. A
report for people is a `ReportDocument` (`document.py`), shown by `plain.py` or by `html.py` and
`charts.py`. `formatting.py` writes numbers and times, for people and in Heritrix's forms; text from
the web is escaped in `escape.py` and nowhere else.
"""
