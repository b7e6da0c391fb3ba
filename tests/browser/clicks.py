"""The studio, clicked through in headless Chromium: a real page, the embedded server on another port.

`make test-browser` runs this file; `make test` does not, since it needs a browser.
"""

import json
import shlex
import urllib.request

import pytest
from browsed_models import EXAMPLES
from page_actions import ask, cell, choose_model, hypotheses
from playwright.sync_api import expect


def test_the_first_example_of_the_first_model_is_answered_at_once(page):
    assert page.input_value("#model") == "a_shout"
    assert page.input_value("#question") == EXAMPLES[0]
    expect(hypotheses(page, "greedy")).to_have_text(["HELLO THERE"])
    expect(hypotheses(page, "beam")).to_have_text(
        ["HELLO THERE", "HELLO THERE!"]
    )  # without the unreached place
    expect(page.locator(".remark")).to_have_text("The beam's best is the same.")
    expect(page.locator("#about")).to_contain_text("Writes texts in capitals.")
    expect(page.locator("#server")).to_contain_text("Server ready")
    assert page.locator("#examples button").all_inner_texts() == [
        "hello there",
        "Straße 7",
        "<b>bold</b>",
        "7 - 8",
    ]


def test_asking_with_a_button_with_enter_and_with_an_example(page):
    page.fill("#question", "one")
    page.get_by_role("button", name="Ask").click()
    expect(hypotheses(page, "greedy")).to_have_text(["ONE"])
    page.press("#question", "End")
    page.press("#question", "Shift+Enter")
    page.keyboard.type("two")
    expect(hypotheses(page, "greedy")).to_have_text(["ONE"])
    page.keyboard.press("Enter")
    expect(hypotheses(page, "greedy")).to_have_text(["ONE\nTWO"])
    page.locator("#examples button", has_text="Straße 7").click()
    expect(hypotheses(page, "greedy")).to_have_text(["STRASSE 7"])
    expect(page.locator("#examples button", has_text="Straße 7")).to_have_attribute("aria-pressed", "true")


def test_the_beam_shows_scores_and_what_orders_it(page):
    first, second = page.locator(".beam .hypothesis").all()
    score, other = (
        float(row.locator(".score").first.inner_text().replace("−", "-")) for row in (first, second)
    )
    assert score - other == pytest.approx(1, abs=0.02)
    assert "ranked" in first.inner_text()
    width = [float(row.locator(".share").get_attribute("width")) for row in (first, second)]
    assert width == pytest.approx([100, 36.79], abs=0.01)


def test_an_answer_that_is_chosen_is_looked_into(page):
    expect(page.locator(".beam .hypothesis").first).to_have_attribute("aria-pressed", "true")
    page.locator(".beam .hypothesis").nth(1).click()
    expect(page.locator("#target")).to_have_value("HELLO THERE!")
    expect(page.locator(".chip .token")).to_have_count(12)
    expect(page.locator(".beam .hypothesis").nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".greedy .hypothesis")).to_have_attribute("aria-pressed", "false")


def test_a_text_of_ones_own_is_scored_and_aligned(page):
    page.fill("#target", "LO ✓")
    page.press("#target", "Enter")
    expect(page.locator(".chip .token")).to_have_text(["L", "O", "␣", "✓"])
    expect(page.locator(".total")).to_contain_text("score −")
    expect(page.get_by_role("img", name="4 by 11 weights")).to_be_visible()


def test_the_heat_map_is_read_with_the_pointer(page):
    page.mouse.move(*cell(page, 1, 1))
    expect(page.locator(".reading")).to_have_text("“E” drew 1.00 from “E”")
    page.mouse.move(*cell(page, 0, 8))
    expect(page.locator(".reading")).to_have_text("“H” drew 0.00 from “E”")
    assert page.locator(".heat .label.on").all_text_contents() == ["E", "H"]
    assert page.locator(".heat .mark.shown").count() == 3
    page.mouse.move(0, 0)
    expect(page.locator(".reading")).to_have_text("Point at the drawing to read it.")
    assert page.locator(".heat .mark.shown").count() == 0


def test_the_heat_map_is_read_with_arrow_keys(page):
    page.locator(".scroller").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator(".reading")).to_have_text("“H” drew 0.00 from “L”")
    page.keyboard.press("Tab")
    expect(page.locator(".reading")).to_have_text("Point at the drawing to read it.")


def test_cells_are_the_darker_the_more(page):
    pixels = page.evaluate(
        """async () => {
            const image = new Image();
            image.src = document.querySelector('.cells').getAttribute('href');
            await image.decode();
            const canvas = document.createElement('canvas');
            [canvas.width, canvas.height] = [image.width, image.height];
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            const pixel = (x) => [...context.getImageData(x, 0, 1, 1).data];
            return [image.width, image.height, pixel(0), pixel(1)];
        }"""
    )
    assert pixels == [11, 11, [8, 38, 74, 255], [243, 246, 249, 255]]


def test_lines_are_as_wide_as_their_weights(page):
    page.get_by_role("button", name="Lines").click()
    expect(page.get_by_role("button", name="Lines")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".heat")).to_have_count(0)
    lines = page.locator(".lines .line")
    assert lines.count() == sum("HELLO THERE".count(letter) for letter in "HELLO THERE")
    assert {line.get_attribute("stroke-width") for line in lines.all()} == {"7"}
    answer_with_weights(page, [[0.75, 0.25], [0.01, 0.5]])
    page.get_by_role("button", name="Look").click()
    expect(lines).to_have_count(3)
    assert sorted(float(line.get_attribute("stroke-width")) for line in lines.all()) == [1.75, 3.5, 5.25]


def answer_with_weights(page, weights):
    """Puts an answer of two tokens each in place of the server's, of `score` and `align` in one."""
    scores = {"score": [-1], "tokens": [["a", "b"]], "token_scores": [[-0.5, -0.5]]}
    alignment = {"source_tokens": [["x", "y"]], "target_tokens": [["a", "b"]], "alignment": [weights]}
    page.route("**:predict", lambda route: route.fulfill(json={"outputs": scores | alignment}))


def test_lines_are_read_with_pointer_and_keys(page):
    answer_with_weights(page, [[0.75, 0.25], [0, 0.5]])
    page.get_by_role("button", name="Look").click()
    page.get_by_role("button", name="Lines").click()
    page.locator(".lines .token", has_text="y").hover()
    expect(page.locator(".reading")).to_have_text("“y” gave 0.50 to “b”, 0.25 to “a”")
    assert page.locator(".lines .line.on").count() == 2
    assert page.locator(".lines .token.linked").all_text_contents() == ["a", "b"]
    page.mouse.move(0, 0)
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".reading")).to_have_text("“a” drew 0.75 from “x”, 0.25 from “y”")
    page.keyboard.press("ArrowUp")
    expect(page.locator(".reading")).to_have_text("“x” gave 0.75 to “a”")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".reading")).to_have_text("“b” drew 0.50 from “y”")


def test_knobs_that_are_left_alone_are_neutral(page):
    page.get_by_role("button", name="Search").click()
    expect(hypotheses(page, "generate")).to_have_text([f"|0|-1000|0|0#{place}" for place in range(3)])


def test_the_search_is_steered(page):
    fields = {
        "Width": "2",
        "Length penalty": "0.5",
        "Least tokens": "1",
        "Most tokens": "9",
        "Begins with": "<é",
    }
    for name, value in fields.items():
        page.get_by_label(name).fill(value)
    page.get_by_role("button", name="Search").click()
    expect(hypotheses(page, "generate")).to_have_text(["<é|2|0.5|1|9#0", "<é|2|0.5|1|9#1"])
    assert page.get_by_label("Width").get_attribute("max") == "3"
    ask(page, "another")
    expect(hypotheses(page, "greedy")).to_have_text(["ANOTHER"])
    expect(hypotheses(page, "generate")).to_have_count(0)
    expect(page.get_by_label("Width")).to_have_value("2")


def test_an_answer_that_comes_takes_no_field_away_from_who_types(page):
    page.get_by_label("Width").fill("2")
    page.get_by_label("Begins with").focus()
    expect(hypotheses(page, "generate")).to_have_count(2)
    page.keyboard.type("still here")
    expect(page.get_by_label("Begins with")).to_have_value("still here")


def test_draws_are_counted(page):
    page.get_by_label("First seed").fill("1")
    page.get_by_role("button", name="Draw 8").click()
    expect(hypotheses(page, "sample")).to_have_text(["draw 1", "draw 2", "draw 0"])
    assert "3 times" in page.locator(".sample .hypothesis").first.inner_text()
    assert "2 times" in page.locator(".sample .hypothesis").last.inner_text()


def test_the_request_can_be_sent_from_a_shell(page):
    ask(page, 'it\'s "so" \\ $HOME 日本')
    expect(hypotheses(page, "greedy")).to_contain_text(["IT'S"])
    page.locator(".greedy summary").click()
    command = shlex.split(page.locator(".greedy .curl code").inner_text())
    assert command[:3] == ["curl", "-s", "-d"]
    with urllib.request.urlopen(command[4], data=command[3].encode(), timeout=10) as answer:
        assert json.loads(answer.read())["outputs"]["text"] == ['IT\'S "SO" \\ $HOME 日本']


def test_the_request_is_copied(visit, studio):
    page = visit(studio.url, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".greedy summary").click()
    page.locator(".greedy .copy").click()
    expect(page.locator(".greedy .copy")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".greedy code").inner_text()


def test_a_tagger(page):
    choose_model(page, "tagger")
    expect(page.locator("li.tag .token")).to_have_text(["a", "1"])
    expect(page.locator("li.tag .value")).to_have_text(["other", "digit"])
    expect(page.locator("li.tag .percent")).to_have_text(["50 %", "75 %"])
    expect(page.locator(".panel")).to_have_count(1)


def test_a_classifier(page):
    choose_model(page, "classifier")
    expect(page.locator(".classes .text")).to_have_text(["loud", "calm", "odd"])
    expect(page.locator(".classes .percent")).to_have_text(["62.50 %", "25.00 %", "12.50 %"])
    shares = [float(share.get_attribute("width")) for share in page.locator(".classes .share").all()]
    assert shares == [62.5, 25, 12.5]


def test_a_regressor_and_a_model_that_only_answers(page):
    choose_model(page, "regressor")
    expect(page.locator(".number")).to_have_text("0")
    ask(page, "abc")
    expect(page.locator(".number")).to_have_text("1.5")
    choose_model(page, "plain")
    ask(page, "abc")
    expect(page.locator(".alone")).to_have_text("ABC")


def test_a_model_that_only_scores(page):
    choose_model(page, "scorer")
    ask(page, "abc")
    page.fill("#target", "ab")
    page.get_by_role("button", name="Look").click()
    expect(page.locator(".chip .token")).to_have_text(["A", "B"])
    expect(page.locator(".alignment")).to_have_count(0)


def test_a_model_that_wants_numbers_is_told_of(page):
    choose_model(page, "numbers")
    expect(page.locator("#about")).to_contain_text("this one has other signatures: serving_default.")
    expect(page.locator(".panel")).to_have_count(0)


def test_versions_can_be_chosen(page):
    assert page.locator("#version option").all_inner_texts() == ["latest (1)", "1"]
    page.select_option("#version", "1")
    expect(hypotheses(page, "greedy")).to_have_text(["HELLO THERE"])
    page.locator(".greedy summary").click()
    expect(page.locator(".greedy code")).to_contain_text("/v1/models/a_shout/versions/1:predict")
