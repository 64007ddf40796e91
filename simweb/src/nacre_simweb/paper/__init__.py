"""The experiment of the National Library of China's paper, on a world whose truth is known.

`crawls.py` makes a full crawl, an incremental one and another full one over real HTTP; `figures.py`
and `missed.py` read their results from WARCs and the server's log, `bound.py` computes the possible
saving, and `document.py` adds the paper's table.
"""
