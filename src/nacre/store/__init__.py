"""One RocksDB per job, its files, and group commit."""
