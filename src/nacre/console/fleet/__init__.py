"""Places of jobs on this machine, and the jobs found there."""
