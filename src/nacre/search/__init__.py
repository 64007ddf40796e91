"""Search in crawled pages: documents, their analysis, the embedded index, and writers.

It receives documents and does not depend on archives: reading and extracting happen where steps and
jobs are. Begin with `document`, then `analysis`; `local_index` is the embedded index (tantivy), and
`writers` has the protocol of all that takes documents.
"""
