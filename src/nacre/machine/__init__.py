"""The machine that a process runs on: directories of a job, small files, locks, the clock."""
