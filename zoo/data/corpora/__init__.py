"""Corpora, one a file."""

__all__: list[str] = []
