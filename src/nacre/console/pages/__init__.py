"""Pages for people: a module for each, which gathers what its template shows."""
