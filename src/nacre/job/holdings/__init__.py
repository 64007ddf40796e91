"""What a job holds in its WARCs: found, read back, indexed again."""
