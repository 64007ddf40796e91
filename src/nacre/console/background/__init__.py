"""What takes longer than a page waits: tasks that go on in the background, and can be asked for."""
