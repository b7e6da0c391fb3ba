"""The page's own site: its files, what they may load, and `models.json`."""

import http.client
import json
import re
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from zoo.studio import open_studio
from zoo.studio.site import page_files

REST = "http://127.0.0.1:8501"
PAGES = page_files()
SCRIPTS = sorted(name for name in PAGES if name.endswith(".js"))


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    content: bytes


def fetch(url, path, **headers):
    """Asks for a path exactly as it stands."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    answer = Answer(response.status, response.headers, response.read())
    connection.close()
    return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def get(folder):
    with open_studio(folder, port=0, rest_url=f"{REST}/behind/a/proxy") as studio:
        yield lambda path, **headers: fetch(studio.url, path, **headers)


def text(name):
    return PAGES[name].content.decode("utf-8")


def test_every_file_is_there_with_its_type(get):
    types = {
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
    }
    assert len(PAGES) > 15
    for name, page in PAGES.items():
        answer = get(f"/{name}")
        assert (answer.status, answer.content) == (200, page.content)
        assert answer.headers["content-type"] == types[name.rpartition(".")[2]]
    assert get("/").content == PAGES["index.html"].content


def test_models_that_come_are_told_of(get, folder):
    names = lambda: [model["name"] for model in json.loads(get("/models.json").content)["models"]]  # noqa: E731
    assert names() == []
    (folder / "new" / "1").mkdir(parents=True)
    assert names() == ["new"]


@pytest.mark.parametrize(
    "path",
    ["/nothing.js", "/../site.py", "/..%2Fsite.py", "/page/index.html", "/__init__.py", "//etc/passwd"],
)
def test_nothing_else_is_there(get, path):
    assert get(path).status == 404


def test_the_page_may_talk_to_the_models_server_and_to_nobody_else(get):
    policy = get("/").headers["content-security-policy"]
    assert f"connect-src 'self' {REST};" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert get("/models.json").headers["x-content-type-options"] == "nosniff"


def test_a_server_with_an_address_that_a_policy_cannot_name():
    with open_studio(None, port=0, rest_url="http://[::1]:8501") as studio:
        policy = fetch(studio.url, "/").headers["content-security-policy"]
    assert "connect-src 'self' http: https:;" in policy


def test_another_name_for_this_machine_opens_nothing(get):
    assert get("/models.json", host="evil.example:8600").status == 400
    assert get("/models.json", host="localhost:8600").status == 200


class Links(HTMLParser):
    """Everything that a document loads, and its inline code and style."""

    def __init__(self):
        super().__init__()
        self.loads, self.inline, self.ids = [], [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href") and not value.startswith("#"):
                self.loads.append(value)
            if name == "id":
                self.ids.append(value)
            if name == "style" or name.startswith("on") or (tag, name) == ("script", None):
                self.inline.append((tag, name))

    def handle_data(self, data):
        if self.lasttag in ("script", "style") and data.strip():
            self.inline.append(data)


def test_the_page_loads_its_own_files_alone():
    links = Links()
    links.feed(text("index.html"))
    assert set(links.loads) <= set(PAGES)
    assert "studio.js" in links.loads
    assert links.inline == []
    assert len(links.ids) == len(set(links.ids))


def test_nothing_points_to_the_network():
    for name in PAGES:
        found = set(re.findall(r"https?://[\w.-]+|//cdn|@import|url\(", text(name)))
        assert found <= {"http://www.w3.org"}, name


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_files_that_are_there_and_never_make_markup_of_texts(name):
    source = text(name)
    imported = re.findall(r'from "\./([\w.]+)"', source)
    assert set(imported) <= set(SCRIPTS)
    assert len(imported) == len(re.findall(r"^import\b|^} from|\bimport\(", source, re.MULTILINE))
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert danger not in source
    for imported_name in re.findall(r"^import \{ ([^}]+) \}", source, re.MULTILINE):
        for word in imported_name.split(", "):
            assert len(re.findall(rf"\b{word}\b", source)) > 1, f"{word} is imported and not used"


def test_every_script_is_used():
    imported = {found for name in SCRIPTS for found in re.findall(r'from "\./([\w.]+)"', text(name))}
    assert set(SCRIPTS) - imported == {"studio.js"}


def test_files_are_short():
    for name in PAGES:
        assert len(text(name).splitlines()) <= 400, name


def test_the_elements_that_scripts_look_for_are_in_the_page():
    wanted = set(re.findall(r'part\("([\w-]+)"\)', text("studio.js")))
    links = Links()
    links.feed(text("index.html"))
    assert len(wanted) > 5
    assert wanted <= set(links.ids)


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_can_be_read(scheme):
    """WCAG 2 asks for a contrast of 4.5 between a text and what is behind it."""
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text("style.css").split("@media")[scheme]))
    hues = re.findall("#[0-9a-f]{6}", text("colours.js").split("HUES")[1].split("\n")[1 + scheme])
    assert len(hues) == 4
    pairs = [(ink, behind) for ink in ("ink", "soft", "warm") for behind in ("page", "card", "sunk", "wash")]
    pairs += [("accent-ink", "accent"), ("ink", "warm-wash"), ("accent", "card")]
    for ink, behind in pairs:
        assert contrast(colours[ink], colours[behind]) >= 4.5, (ink, behind)
    for hue in hues:
        assert contrast(hue, colours["card"]) >= 4.5, hue
