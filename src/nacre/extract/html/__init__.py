"""Links of HTML pages.

`extractor.py` reads a page (`page.py`, the seam to the parser) and walks over its elements
(`walk.py`): `table.py` says which attribute of which element refers to what, `elements.py` has a
function for each element that needs more than a row.
"""
