"""From files, options and sheets to checked settings with the origin of each value."""
