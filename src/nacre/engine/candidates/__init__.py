"""From a link to a CrawlURI for the frontier, or to a refusal that can be explained."""
