"""Where the stages meet: what a job is, how it runs, and what can be done with one.

A map, by what is asked:

- *What is a job?* `layout.py` its directory, `configuration/` what `crawl.yaml` may say and how it
  is read, `registry.py` the table of components, `checks.py` whether its parts suit each other.
  `runs/` has its runs, `holdings/` their WARCs.
- *How does it run?* `job.py` opens one, `session.py` is one life of it, `assemble.py` builds its
  parts, `running/engine.py` works on the frontier, with all that looks after it beside it.
  `states.py` and `events.py` say where it is.
- *What happens to a URI?* In order: `seeding/` and `intake/` (where it comes from), `admission/`
  (scope, key, queue), `visit/` and `extracting/` (the steps of the fetch chain), then
  `visit/disposition.py`, which settles all in one step. `chain/` makes these steps configurable.
- *How does an operator look and steer?* `operator/` in a running job, `offline.py` in another;
  `explaining/` and `reports/` answer; `changes/` are other settings for a running job;
  `companions/` serve files, checkpoints and webhooks.
- *Visiting again:* `incremental/`; `studies/` reports on it.
- *After a crash or a loss:* `mending/`.

Imports between them go one way only (`lint-imports`), from `operator/` at the top down to
`configuration/`. docs/architecture.md tells how they work together.
"""
