"""The settings of a job: its file and history, single settings, sheets, and trials of URLs."""
