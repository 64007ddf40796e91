"""The change feed of a job: what its runs found new, changed and gone, and its formats.

`feed` is the model, `reading` makes it from the rows of a store; the other modules are formats.
"""
