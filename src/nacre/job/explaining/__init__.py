"""Why a URL was or was not crawled, what would be done with it, and when it is due."""
