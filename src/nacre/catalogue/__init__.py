"""Captures of jobs, collections and files of other crawlers: where they are, and how to find them.

Begin with `captures.py`, which reads a line of an index. `holdings.py` lists the WARCs that belong
together: those of jobs (`job_files.py`), of collections (`collections.py`), of WARC and WACZ files
(`foreign.py`, `wacz.py`). `lookup.py` finds captures in their indexes (`index_files.py`), by halves
and without a catalogue. `build.py` makes the catalogue, and `query.py` searches it. Everything is
read from files: no store of a job is opened, and a crawl does nothing for it.
"""
