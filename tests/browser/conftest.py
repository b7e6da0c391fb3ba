"""A browser, a studio, and pages that are looked after. What they need is imported when they are used."""

import os
from urllib.parse import urlsplit

import pytest

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)
    path = os.environ.get("CHROMIUM")
    if not path:
        pytest.exit("Set CHROMIUM to the path of a Chromium, as `make test-browser` does.", 1)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    from browsed_models import write_models

    folder = tmp_path_factory.mktemp("models")
    write_models(folder)
    return folder


@pytest.fixture(scope="session")
def studio(models):
    from zoo.studio import open_studio

    with open_studio(models, port=0) as studio:
        yield studio


@pytest.fixture
def visit(browser):
    """Opens a page at a URL. At the end, nothing must have failed in it, and nothing left this machine."""
    problems, contexts = [], []

    def open_page(url, **options):
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.extend(foreign(request.url)))
        page.on("console", lambda message: problems.extend(refusals(message.text)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def foreign(url):
    at = urlsplit(url)
    return [] if at.scheme == "data" or at.hostname == "127.0.0.1" else [url]


def refusals(text):
    """What the page's own security policy has refused, which it never should have to."""
    return [text] if "Content Security Policy" in text else []


@pytest.fixture
def page(visit, studio):
    """The studio's page, with the first example answered."""
    page = visit(studio.url)
    page.locator(".heat").wait_for()
    return page
