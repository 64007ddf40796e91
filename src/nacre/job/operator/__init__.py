"""What an operator asks of a job by commands, whether it runs or lies still."""
