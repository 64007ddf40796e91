"""One store per job: RocksDB, group commit, the table of files, recovery.

How to read it: `seam.py` is the only way to a disk (`disk.py` and `rocks.py` are the real ones).
`store.py` is the key-value side that every stage uses; the stages encode their own rows. What they
put, append and log since the last commit is a `group.py`; `commit.py` makes it durable with the
steps of `writer.py`, into the files of `table.py`, lines by way of `journal.py`. `opening.py` is
where a job begins, and begins again after a storage error: `examine.py` compares files and store,
`recovery.py` brings them to the same commit.
"""
