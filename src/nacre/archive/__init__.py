"""Capture to WARC and CDXJ, and their verification."""
