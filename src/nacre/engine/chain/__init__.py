"""The chains: lists of processors that a configuration can change. Source: Heritrix 3.

`entry.py` has what all processors have in common and the registry of them, `plan.py` makes the
steps of a chain, for each combination of sheets. The processors are in `engine.steps`; the section
`chains` of `crawl.yaml` and the stock chains are in `settings.chains`.
"""
