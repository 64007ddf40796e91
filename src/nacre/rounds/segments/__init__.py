"""Segments: their parts, their files, and their frozen settings."""
