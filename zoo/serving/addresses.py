"""Hosts and ports, as they are written; standard library only."""

__all__ = ["LAST_PORT", "bracketed"]

LAST_PORT = 65_535


def bracketed(host: str) -> str:
    """A host as it stands before a port: an address of IPv6 has colons of its own."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
