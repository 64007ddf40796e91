"""Background tasks of a session, for its operator: files, checkpoints, webhooks."""
