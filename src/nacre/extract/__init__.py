"""Capture to outlinks. Pure; never raises."""
