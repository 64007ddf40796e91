"""Everything that is asked of a job, running or at rest.

Begin with `view.py`: what a command looks at. `explain/` says why a URL was crawled or not.
`registry.py` names all reports: `reports/` are those of a run, as Heritrix has them, `analysis/`
those on incremental crawling, `summary/` is the one for readers outside.
"""
