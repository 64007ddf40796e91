"""The jobs of a machine and those who use them: places, schedules, users, keys, webhooks, audit.

Its rows are in the database of the console; the command line reads and changes the same rows.
"""
