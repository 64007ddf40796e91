"""What runs along with a session and serves its operator: files, checkpoints, webhooks."""
