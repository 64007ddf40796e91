"""Other settings for a running job: checked, rehearsed apart, then taken by each part."""
