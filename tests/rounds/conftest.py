from tests.rounds.made import few_buckets

__all__ = ["few_buckets"]
