"""From files, options and sheets to checked settings that know where each value comes from."""
