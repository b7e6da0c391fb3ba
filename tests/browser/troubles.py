"""Servers that fail, texts that are odd, and screens of all kinds, in headless Chromium.

`make test-browser` runs this file; `make test` does not, since it needs a browser.
"""

import json

import pytest
from page_actions import ask, cell, choose_model, hypotheses
from playwright.sync_api import expect

from zoo.serving.server import Server
from zoo.serving.settings import Settings
from zoo.studio import open_studio

LETS_PAGES_ASK = Settings(rest_api_enable_cors_support=True)
MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


def test_what_a_model_refuses_is_told_in_its_panel(page):
    choose_model(page, "picky")
    ask(page, "a")
    expect(page.locator(".note")).to_contain_text("The server refused the request: ")
    expect(page.locator("#trouble")).to_be_hidden()
    ask(page, "abcdef")
    expect(page.locator(".alone")).to_have_text("d")
    expect(page.locator(".note")).to_be_hidden()


STATUSES = [
    (413, ".greedy .note", "The text is too large for the server: because. Ask a shorter one."),
    (504, ".greedy .note", "longer than the server allows: because. Ask a shorter text, or raise --rest_api"),
    (500, ".greedy .note", "The server failed with status 500: because. Look into its log."),
    (404, "#trouble", "The server does not have that model: because"),
    (503, "#trouble", "The server is not ready: because Try again in a moment."),
]


@pytest.mark.parametrize(("status", "where", "sentence"), STATUSES)
def test_failures_are_sentences(page, status, where, sentence):
    page.route("**:predict", lambda route: route.fulfill(status=status, json={"error": "because"}))
    ask(page, "x")
    expect(page.locator(where)).to_contain_text(sentence)
    expect(hypotheses(page, "greedy")).to_have_count(0)


def test_what_is_no_tensorflow_serving_is_told(page):
    page.route("**:predict", lambda route: route.fulfill(body="<html>NaN"))
    ask(page, "x")
    expect(page.locator("#trouble")).to_contain_text(
        "did not answer as TensorFlow Serving does. Check the URL."
    )


def test_a_model_that_is_loading_is_asked_again(page):
    states = iter(["LOADING", "LOADING"])

    def answer(route):
        state = next(states, None)
        status = {"version": "1", "state": state, "status": {}}
        route.fulfill(json={"model_version_status": [status]}) if state else route.continue_()

    page.route("**/v1/models/plain", answer)
    choose_model(page, "plain")
    expect(page.locator("#trouble")).to_contain_text("The server is still loading plain.")
    expect(page.locator(".panel")).to_have_count(1)
    expect(page.locator("#trouble")).to_be_hidden()


def hold_up(page, url, action):
    """Do what makes the page request something, which it will not get before the answer is continued."""
    held = []
    page.route(url, lambda route: held.append(route))
    action()
    while not held:
        page.wait_for_timeout(10)
    return held.pop()


def test_a_text_that_is_asked_while_its_model_loads_is_answered(page):
    held = hold_up(page, "**/v1/models/plain/metadata", lambda: choose_model(page, "plain"))
    ask(page, "early")
    held.continue_()
    expect(page.locator(".alone")).to_have_text("EARLY")
    expect(page.locator("#server")).to_contain_text("ready")


def test_a_text_that_is_asked_while_another_version_loads_is_answered_by_both(page):
    held = hold_up(page, "**/versions/1/metadata", lambda: page.select_option("#version", "1"))
    ask(page, "early")
    expect(hypotheses(page, "greedy")).to_have_text(["EARLY"])
    held.continue_()
    expect(page.locator(".greedy code")).to_contain_text("/versions/1:predict")
    expect(hypotheses(page, "greedy")).to_have_text(["EARLY"])


@pytest.fixture
def serve(models):
    """Starts servers of the model `plain`, on a port that is known after the first."""
    started = []

    def start(port=0, settings=LETS_PAGES_ASK):
        server = Server({"plain": models / "plain"}, grpc_port=None, rest_port=port, settings=settings)
        started.append(server.start())
        return server

    yield start
    for server in started:
        server.stop()


def test_a_server_that_has_gone_and_come_back(visit, serve):
    server = serve()
    with open_studio(None, port=0, rest_url=server.rest_url) as studio:
        page = visit(studio.url)
        expect(page.locator("#about")).to_have_text("Write the name of a served model above.")
        page.fill("#model", "plain")
        page.press("#model", "Enter")
        expect(page.locator(".panel")).to_have_count(1)
        server.stop()
        ask(page, "abc")
        expect(page.locator("#trouble")).to_contain_text(f"No server answers at {server.rest_url}.")
        expect(page.locator("#server")).to_contain_text("in trouble")
        serve(server.rest_port)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".alone")).to_have_text("ABC")
        expect(page.locator("#trouble")).to_be_hidden()


def test_a_server_that_does_not_let_pages_ask(visit, serve, models):
    server = serve(settings=Settings())
    with open_studio(models, port=0, rest_url=server.rest_url) as studio:
        page = visit(studio.url)
        expect(page.locator("#trouble")).to_contain_text("does not let web pages ask.")
        expect(page.locator("#trouble")).to_contain_text("Start it with --rest_api_enable_cors_support")


def test_a_name_that_is_not_served(visit, serve):
    with open_studio(None, port=0, rest_url=serve().rest_url) as studio:
        page = visit(studio.url)
        page.fill("#model", "../a b?")
        page.press("#model", "Enter")
        expect(page.locator("#trouble")).to_contain_text("The server does not have that model")
        expect(page.locator("#trouble")).to_contain_text("../a b?")


def test_markup_stays_text(page):
    ask(page, MARKUP)
    expect(hypotheses(page, "greedy")).to_have_text([MARKUP.upper()])
    expect(page.locator(".heat")).to_be_visible()
    page.get_by_role("button", name="Lines").click()
    expect(page.locator(".lines")).to_be_visible()
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title() == "zoo studio"


@pytest.mark.parametrize("text", ["", "   "])
def test_blank_texts(page, text):
    ask(page, text)
    expect(hypotheses(page, "greedy")).to_have_text(["the empty text"])
    expect(page.locator(".drawing")).to_contain_text("There is nothing to draw")


def test_a_huge_text(page):
    choose_model(page, "plain")
    page.evaluate("document.getElementById('question').value = 'ab '.repeat(100000)")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".alone")).to_contain_text("AB AB")
    page.locator("summary").click()
    expect(page.locator(".curl code")).to_contain_text("… (300,")
    assert page.evaluate("document.documentElement.scrollHeight") < 2000
    assert page.locator("#question").bounding_box()["height"] < 200


def test_many_tokens(page):
    ask(page, "long " * 80)
    expect(page.locator(".heat")).to_have_attribute("aria-label", "399 by 399 weights")
    assert page.locator(".scroller").evaluate("each => each.scrollWidth > each.clientWidth")
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowLeft")
    for _ in range(90):
        page.keyboard.press("ArrowRight")
    assert page.locator(".scroller").evaluate("each => each.scrollLeft") > 0


def test_texts_from_right_to_left(page):
    ask(page, "שלום abc")
    expect(page.locator(".heat")).to_have_attribute("aria-label", "8 by 8 weights")
    assert page.locator("#question").evaluate("each => getComputedStyle(each).direction") == "rtl"
    assert hypotheses(page, "greedy").evaluate("each => getComputedStyle(each).direction") == "rtl"
    page.mouse.move(*cell(page, 0, 7))
    expect(page.locator(".reading")).to_have_text("“ש” drew 1.00 from “ש”")


def test_marks_that_combine_and_emoji(page):
    ask(page, "e\u0323\u0308 👩‍👩‍👧 日")
    expect(page.locator("#count")).to_have_text("5 characters")
    for shown in ("◌\u0308", "日"):
        expect(page.locator(".chip .token").filter(has_text=shown).first).to_be_visible()


def test_the_last_question_is_the_one_that_is_answered(page):
    first = json.dumps("slow")

    def delay(route):
        if first in (route.request.post_data or ""):
            page.wait_for_timeout(300)
        route.continue_()

    page.route("**:predict", delay)
    ask(page, "slow")
    ask(page, "fast")
    page.wait_for_timeout(800)
    expect(hypotheses(page, "greedy")).to_have_text(["FAST"])
    expect(page.locator("#target")).to_have_value("FAST")


@pytest.mark.parametrize("width", [320, 390, 768, 1600])
def test_the_page_is_as_wide_as_the_screen(visit, studio, width):
    page = visit(studio.url, viewport={"width": width, "height": 800})
    expect(page.locator(".heat")).to_be_visible()
    ask(page, "Donaudampfschifffahrtsgesellschaft" * 8)
    expect(page.locator(".heat")).to_have_attribute("aria-label", "272 by 272 weights")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("scheme", "background"), [("light", "rgb(245, 247, 250)"), ("dark", "rgb(16, 22, 29)")]
)
def test_light_and_dark(visit, studio, scheme, background):
    page = visit(studio.url, color_scheme=scheme)
    expect(page.locator(".heat")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    before = page.locator(".cells").get_attribute("href")
    page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    expect(page.locator(".cells")).not_to_have_attribute("href", before)


def test_everything_has_a_name_and_can_be_reached_with_the_keyboard(page):
    unnamed = """() => [...document.querySelectorAll('button, input, select, textarea, section')].filter(
        (each) => !(each.textContent.trim() || each.labels?.length || each.getAttribute('aria-label'))
    ).map((each) => each.outerHTML)"""
    assert page.evaluate(unnamed) == []
    page.locator("#question").focus()
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.name || document.activeElement.className"))
    assert {"main", "hypothesis", "scroller", "width", "prefix", "temperature", "seed"} <= reached
