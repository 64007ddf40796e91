"""Segments: their parts, their files, and the settings that they were listed with."""
