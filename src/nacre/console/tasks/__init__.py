"""The tasks in the background: their list, their progress and their results."""
