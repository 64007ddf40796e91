"""One store per job: RocksDB, group commit, the table of files, recovery.

How to read it: `seam.py` is the only way to a disk (`disk.py` and `rocks.py` are the real disk).
`store.py` is the key-value side that every stage uses, with the group of changes since the last
commit; the stages encode their own rows. `commit.py` makes a group durable with the steps of
`writer.py`, into the files of `file_table.py`, whose rows are in `files.py`. `opening.py` is where
a job begins, and begins again after a storage error; `recovery.py` compares files and store and
brings them to the same commit. `schema.py` has the column families and the version of the layout.
"""
