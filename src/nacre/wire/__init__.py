"""Bytes to meaning: HTTP/1.1, content codings, charsets, dates. Pure."""
