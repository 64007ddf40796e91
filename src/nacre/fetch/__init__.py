"""CrawlURI to Capture: connections, TLS, names, cookies."""
