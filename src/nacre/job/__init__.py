"""Where the stages meet: what a job is, how it runs, and what can be done with one.

A map, by what is asked:

- *What is a job?* `layout.py` its directory, `settings.py` what `crawl.yaml` may say, `registry.py`
  the table of components; `configure.py`, `layers.py` and `checks.py` make and check it, `runs.py`
  and `newrun.py` have its runs.
- *How does it run?* `job.py` opens one, `session.py` is one life of it, `assemble.py` builds its
  parts, `engine.py` works on the frontier. `states.py` and `events.py` say where it is.
- *What happens to a URI?* In order: `entering.py` (seeds), `candidates.py` (scope, key, queue),
  `preselect.py`, `preconditions.py`, `fetching.py`, `extraction.py`, then `disposition.py`, which
  settles all in one step, with `writing.py` for the archive. `chain/` makes these steps
  configurable.
- *Other settings for some URIs, and for a running job:* `sheets.py`; `change.py`, `changing.py`,
  `amend.py`, `live.py`.
- *How does an operator look and steer?* `control.py` and `commands.py` in a running job,
  `offline.py` in another; `overview.py`, `explain.py` and `reporting.py` answer; `edits.py` and
  `steer.py` act; `actions.py`, `controlfiles.py` and `telling.py` by files and webhooks.
- *Visiting again:* `recrawl.py` with `planning.py`, `teaching.py`, `revisits.py`, `judge.py` and
  `remembering.py`; schedules and passes in `scheduling.py`, `upcoming.py`, `continuous.py`; what is
  stored in `keeping.py`; `studies/` reports on it.
- *After a crash or a loss:* `mending.py`, `loss.py`, `salvage.py`, `readback.py`,
  `checkpointing.py`, `space.py`.

docs/architecture.md tells how they work together.
"""
