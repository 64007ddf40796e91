"""The results of a job: seeds, URLs, reports, runs, checkpoints and files."""
