"""Packages of captures for other archives and programs: WACZ files, WARCs of a selection."""
