"""The experiment of the National Library of China's paper, on a world whose truth is known.

`crawls.py` makes a full crawl, an incremental one and another full one over real HTTP; `figures.py`
and `missed.py` read what they found from WARCs and the server's log, `bound.py` says what could be
saved at all, and `document.py` puts the paper's table beside it.
"""
