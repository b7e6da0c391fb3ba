"""The log probability of what cannot be."""

__all__ = ["NEVER"]

NEVER = -float("inf")
"""Of a token that may not follow, a hypothesis that nothing leads to, a place that is still empty."""
