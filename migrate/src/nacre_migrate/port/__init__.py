"""Heritrix 3's REST interface: its scripts and clients find the jobs of this machine behind it.

Paths, forms and answers are those of Heritrix 3.15 (commit `5ada2a7`); differences are listed in
`tests/migrate/port/differences.md`.

- `app.py`: the requests; `answers.py`: how they are read, and the forms of answers.
- `access.py`: the log-in of clients, and the certificate of the port.
- `model.py`: the contents of answers (pure); `scripts.py`: scripts that are recognised (pure);
  `statements.py`: scripts of plain statements (pure), which `script_runner.py` carries out.
- `actions.py`: build, launch, pause and so on; `making.py`: new jobs and files that are written;
  `conversion.py`: beans that become settings; `tasks.py`: the tasks of a reader process.
- `files.py`: the files of a job; `file_desk.py`: the parts of them that a user may see.
- `bean_tree.py`, `rule_beans.py` and `bean_browser.py`: settings under the names of beans.
"""
