"""Studies of what the visits of a job have shown; each becomes a report of `nacre report`."""
