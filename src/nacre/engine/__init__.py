"""The engine: one trip of a URI after the other, from the frontier to the commit.

Begin with `engine.py` (the toes), then `disposition.py` (what the end of a trip decides) and
`steps/archive.py` (what is written of it). `observer.py` says who may take part. `steps/` has the
processors, `chain/` their order; `candidates/` takes a link to the frontier, and `seeding/` reads
seeds.
"""
