"""The URL filters of Nutch, which read its rule files unchanged. Source: reference/nutch.md 1.9."""
