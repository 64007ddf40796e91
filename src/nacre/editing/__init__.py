"""Help for users who write a job's settings in the console, the terminal or an editor.

`outline` parses YAML that may be invalid, and `places` lists the names that are valid at a position
in it. `complete` and `hover` use both; `findings` are those of `nacre check` with their columns.
Everything is a function of texts, settings and the files that they refer to; nothing here crawls.
"""
