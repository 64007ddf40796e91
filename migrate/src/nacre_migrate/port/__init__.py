"""Heritrix 3's REST interface: its scripts and clients find the jobs of this machine behind it.

Paths, forms and answers are those of Heritrix 3.15 (commit `5ada2a7`); differences are listed in
`tests/migrate/port/differences.md`.

- `app.py`: the requests; `answers.py`: how they are read, and the forms of answers.
- `certificate.py`: the certificate of the port.
- `model.py` and `xml.py`: the answers (pure); `scripts.py`: scripts that are recognised (pure).
- `actions.py`: build, launch, pause and so on; `making.py`: new jobs and files that are written;
  `conversion.py`: beans that become settings.
- `files.py`: the files of a job; `file_desk.py`: what is shown of them to whom.
- `bean_tree.py` and `bean_browser.py`: settings under the names of beans.
"""
