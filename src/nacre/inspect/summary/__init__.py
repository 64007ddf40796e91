"""The report of a run, for people who did not make it.

`run_summary.py` collects the results of a run, `run_document.py` and `run_sections.py` make a
document of them with the texts of `run_texts.py`. `history_documents.py` has the documents of
`nacre history`.
"""
