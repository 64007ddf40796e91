"""Tables of files, their versions, and their readers."""
