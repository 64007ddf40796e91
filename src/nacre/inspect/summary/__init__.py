"""Summaries for people who did not make the crawl: of a run, and of a page's history.

`run_summary.py` gathers what came of a run, `run_document.py` makes a document of it in the words
of `translation.py`: English or Chinese. `history_documents.py` has those of `nacre history`.
"""
