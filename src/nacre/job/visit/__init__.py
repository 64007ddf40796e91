"""One trip of one URI: what its steps need of the job, and what becomes of it."""
