"""Pages that are run in a browser: each request is a visit of the ordinary fetch chain."""
