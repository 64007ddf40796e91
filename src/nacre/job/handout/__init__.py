"""The report of one run that is handed to others: to a superior, or to whoever asked for a site.

`facts.py` gathers what became of the run, `failures.py` reads its crawl.log for what could not be
got, `page.py` makes a document of it, in the words of `words.py`: English or Chinese.
"""
