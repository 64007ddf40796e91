"""The administration of the console: users, keys, sessions, places, quotas, audit log."""
