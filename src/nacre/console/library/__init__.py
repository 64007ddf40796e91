"""Profiles and clips: settings to begin with, and pieces of settings to insert."""
