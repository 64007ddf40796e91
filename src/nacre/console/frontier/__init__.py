"""The frontier of a job: its queues and queued URIs, and their changes."""
