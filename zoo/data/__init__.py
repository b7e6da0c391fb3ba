"""From corpora to batches."""

__all__: list[str] = []
