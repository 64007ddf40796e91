"""Settings: components, loading, overrides, sheets."""
