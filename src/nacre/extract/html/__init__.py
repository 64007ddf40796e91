"""Links of HTML pages.

`extractor.py` reads a page (`page.py`, the seam to the parser) and walks over its elements
(`walk.py`): `table.py` lists the attributes of elements that contain URLs, `elements.py` has a
function for each element that needs more than a row.
"""
