"""The chains: lists of processors that a configuration can change. Source: Heritrix 3.

`entry.py` has the base of all processors and their registry, `plan.py` makes the steps of a chain,
for each combination of sheets. The processors are in `engine.steps`; the section `chains` of
`crawl.yaml` and the stock chains are in `settings.chains`.
"""
