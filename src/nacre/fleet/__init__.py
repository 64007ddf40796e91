"""The console's records: places, jobs, schedules, users, keys, webhooks and the audit log.

The records are rows of the console's database. The command line reads and changes the same rows.
"""
