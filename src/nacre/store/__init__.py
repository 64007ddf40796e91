"""One store per job: RocksDB, group commit, the table of files, recovery.

`store.py` is the key-value side that every stage uses, `commit.py` makes it durable together with
the WARCs and logs, `recovery.py` is what runs before a crawl goes on. `seam.py` is the only place
that touches a disk. The stages encode their own rows.
"""
