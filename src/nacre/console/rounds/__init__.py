"""Batch crawls: the dry run of their next list, and the versions of their tables."""
