"""Access: keys, sessions, roles, and the checks and fields of every request and answer."""
