"""Streams of server-sent events: for programs, and parts of pages."""
