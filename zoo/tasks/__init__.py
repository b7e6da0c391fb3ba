"""Tasks: each a question asked of a corpus."""

__all__: list[str] = []
