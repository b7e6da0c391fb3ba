"""What the tests do on the page."""

import re


def choose_model(page, name):
    page.select_option("#model", name)


def ask(page, text):
    page.fill("#question", text)
    page.press("#question", "Enter")


def hypotheses(page, panel):
    return page.locator(f".{panel} .hypothesis .text")


def cell(page, t, s):
    """The middle of a cell of the heat map, on the page."""
    page.locator(".alignment").scroll_into_view_if_needed()
    box, cells = page.locator(".heat").bounding_box(), page.locator(".cells")
    x, y, width, height = (float(cells.get_attribute(name)) for name in ("x", "y", "width", "height"))
    rows, columns = map(int, re.findall("[0-9]+", page.locator(".heat").get_attribute("aria-label")))
    return box["x"] + x + width * (s + 0.5) / columns, box["y"] + y + height * (t + 0.5) / rows
