"""What people read who did not make the crawl: the report of a run, the history of a page.

`run_summary.py` gathers what came of a run, `run_document.py` makes a document of it in the words
of `translation.py`: English or Chinese. `history_documents.py` has those of `nacre history`.
"""
