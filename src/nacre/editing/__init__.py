"""Help for users who write a job's settings in the console, the terminal or an editor.

`outline` reads a YAML text that may be broken, `places` has the names that are possible at a place
of it; `complete` and `hover` answer from them, `findings` are those of `nacre check` with their
columns.
Everything is a function of texts, settings and the files that they name; nothing here crawls.
"""
