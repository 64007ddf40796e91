"""A job: its directory, its runs, and everything that can be done with it.

`job.py` is the job and runs its sessions; `session.py` is one of them, from opening the store to
closing it. `api.py` is the Python interface. `checks.py` checks a configuration.
`seeds.py` enters the seed list, `imports.py` journals and lists of URLs. `control.py` is the socket
of a running job, `commands.py` its handlers; `frontier_edits.py`, `settings_change.py` and
`apply_change.py` are changes by the operator. `background/` holds the tasks that run beside a
crawl. `repair.py` and `salvaged.py` work after a loss; `stopped_job.py` opens a job that does not
run.
"""
