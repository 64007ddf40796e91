"""Indexing: documents for an index of words, from captures, and the pages of a job in an index.

`search_index.py` gives a writer the changed pages of a job, by the states of pages in
`page_states.py`; batch rounds do the same by their tables (`nacre.rounds.steps`).
`page_document.py` makes a document from a capture, `document_choice.py` applies the condition of a
writer. `text_process.py` extracts texts in a helper process, which runs `text_main.py`.
"""
