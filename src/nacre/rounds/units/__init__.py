"""Units: the processes that fetch the lists of a segment."""
