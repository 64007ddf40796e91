"""The seeds of a job: lists of any length, looked over, read a portion at a time, kept durably."""
