"""Logs of jobs: their lines, and pages of files of any size."""
