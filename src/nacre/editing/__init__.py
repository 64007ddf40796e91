"""Help for those who write a job's settings, on any surface: the console, the terminal, an editor.

`outline` reads a YAML text that may be broken, `places` says what may stand at a place of it;
`complete` and `hover` answer from them, `findings` are those of `nacre check` with their columns.
Everything is a function of texts, settings and the files that they name; nothing here crawls.
"""
