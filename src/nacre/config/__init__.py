"""Settings: from text, environment and options to checked, frozen models with their origins.

A component is a pydantic model whose fields have a doc and a unit (`component.py`). Text becomes a
layer in which every value knows its line (`document.py`, `layer.py`); `check.py` merges the layers
and finds all that is wrong at once, in the words of `findings.py`. `sheet.py` has
other settings for some URIs, `effective.py` what holds under each combination of sheets, and
`place.py` changes a property by its path.
"""
