"""The page's own small site: its files, and `models.json`, which names the models and their server."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

__all__ = ["page_files", "site"]

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Written down, since on some machines the system calls a script something that no browser runs."""

_HOSTS = ["127.0.0.1", "localhost"]


class _File(NamedTuple):
    content: bytes
    media_type: str


def page_files() -> dict[str, _File]:
    """The files of the page by name."""
    found = (entry for entry in files("zoo.studio").joinpath("page").iterdir() if entry.is_file())
    typed = ((entry, _TYPES.get(PurePosixPath(entry.name).suffix)) for entry in found)
    return {entry.name: _File(entry.read_bytes(), kind) for entry, kind in typed if kind}


def site(describe: Callable[[], dict[str, Any]], *, rest_url: str) -> Starlette:
    """The site as an ASGI application.

    Args:
        describe: makes the content of `models.json`, for each request anew.
        rest_url: the one place beside the site itself that the page may talk to.
    """
    pages = page_files()
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": _policy(rest_url),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }

    def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in pages:
            raise HTTPException(404, f"There is no {name!r} here; the studio is at /.")
        return Response(pages[name].content, media_type=pages[name].media_type, headers=headers)

    def models(_request: Request) -> Response:
        return JSONResponse(describe(), headers=headers)

    routes = [Route("/", page), Route("/models.json", models), Route("/{name}", page)]
    # Another site's name that leads to this machine must not open the studio to that site.
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False)
    return Starlette(routes=routes, middleware=[guard])


def _policy(rest_url: str) -> str:
    # The policy's grammar has no IPv6 addresses: there the page might ask anywhere, and asks this server.
    server = "http: https:" if "[" in rest_url else rest_url
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"connect-src 'self' {server}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
