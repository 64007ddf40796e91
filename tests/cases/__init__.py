"""Conformance tables of the peers and the standards, read from ../shared/cases (not copied)."""
