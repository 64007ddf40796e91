"""What people read who did not make the crawl: the report of a run, the history of a page.

`facts.py` gathers what became of a run, `failures.py` reads its crawl.log for what could not be
got, `page.py` makes a document of it, in the words of `words.py`: English or Chinese.
`history_pages.py` has the documents of `nacre history`; `particulars.py` is what every report says
of itself: job, site, period.
"""
