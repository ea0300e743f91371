import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import chromium
import pytest
from report_samples import CLEAN, CONTEXT, ELSEWHERE, LEAK, REVIEW

from patchlint.report import html
from patchlint.report.html.element import Markup, tag


class Outline(HTMLParser):
    """Elements in order, with the open ones checked against their ends."""

    VOID = {"meta", "link", "wbr"}

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in self.VOID:
            self.open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def values(self, attribute: str) -> list[str]:
        return [found[attribute] or "" for _, found in self.elements if attribute in found]


def test_text_is_escaped_and_markup_is_not() -> None:
    assert tag("p", "<b>", tag("i", "x"), title='"') == '<p title="&quot;">&lt;b&gt;<i>x</i></p>'
    assert isinstance(tag("p"), Markup)


def test_well_formed_with_unique_ids_and_live_links() -> None:
    outline = Outline(html.render((REVIEW, CLEAN, REVIEW), CONTEXT))
    idents = outline.values("id")
    assert len(idents) == len(set(idents))
    assert {link[1:] for link in outline.values("href") if link.startswith("#")} <= set(idents)


def test_hostile_text_makes_no_element_and_no_handler() -> None:
    page = html.render((REVIEW,), CONTEXT)
    names = {name for name, _ in Outline(page).elements}
    assert "img" not in names
    assert page.count("<script") == 1
    assert not [key for _, found in Outline(page).elements for key in found if key.startswith("on") or key == "style"]
    assert "\x1b" not in page and "\u202e" not in page


def test_nothing_is_fetched_and_only_our_script_may_run() -> None:
    page = html.render((REVIEW,), CONTEXT)
    assert not re.search(r"(src|href)=\"(?!#|data:,)", page)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page


def test_the_card_stands_under_its_line() -> None:
    page = html.render((REVIEW,), CONTEXT)
    card = page.index('id="s1-f1"')
    before = page[:card]
    assert before.rindex("return -EIO;") > before.rindex("if (widget_setup(dev))")
    assert 'class="line add hit"' in before[-400:]
    assert page.index("return 0;", card) > card


def test_a_finding_elsewhere_is_shown_after_the_diff() -> None:
    page = html.render((replace(REVIEW, findings=(ELSEWHERE,)),), CONTEXT)
    assert page.index("Outside of what the patch shows") < page.index('id="s1-f1"')


def test_findings_of_files_need_no_series() -> None:
    plain = replace(LEAK, patch=None)
    page = html.render((replace(REVIEW, series=None, patches=(), findings=(plain,)),), CONTEXT)
    assert 'id="s1-f1"' in page


def test_the_overview_begins_with_the_worst() -> None:
    page = html.render((REVIEW,), CONTEXT)
    table = page[page.index("<table") : page.index("</table>")]
    assert re.findall(r"chip (\w+)", table) == ["error", "warning", "note"]


def test_no_finding_says_so() -> None:
    assert "Nothing found" in html.render((CLEAN,), CONTEXT)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    if chromium.PROGRAM is None:
        pytest.skip(chromium.MISSING)
    with chromium.chromium(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def address(tmp_path: Path) -> str:
    file = tmp_path / "report.html"
    file.write_text(html.render((REVIEW,), CONTEXT))
    return file.as_uri()


@pytest.mark.parametrize("width", [1280, 720, 360, 320])
def test_fits_every_screen_without_a_complaint(
    browser: chromium.Page, address: str, tmp_path: Path, width: int
) -> None:
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(address, width, 900)
    browser.screenshot(tmp_path / "report.png")
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("document.title").startswith("patchlint: misc: widget </script>")
    assert browser.value("document.querySelectorAll('article.finding').length") == 3
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:,"))] == []
    assert (tmp_path / "report.png").stat().st_size > 10_000


def test_findings_and_paths_are_walked_by_keyboard(browser: chromium.Page, address: str) -> None:
    browser.open(address, 1280, 900)
    current = "document.querySelector('#s1-f1 [aria-current=step]').dataset.step"
    lit = "[...document.querySelectorAll('#s1-f1 .line.now .no')].map(e => e.textContent).join()"
    assert (browser.value(current), browser.value(lit)) == ("0", "12")
    browser.press("j")
    assert browser.value("document.activeElement.id") == "s1-f1"
    browser.press("Tab")
    browser.press("Tab")
    assert browser.value("document.activeElement.dataset.step") == "0"
    browser.press("ArrowDown")
    browser.press("ArrowDown")
    assert (browser.value(current), browser.value(lit)) == ("2", "16")
    assert browser.value("document.querySelectorAll('#s1-f1 svg .node.now').length") == 1
    browser.press("ArrowDown")
    browser.press("ArrowUp")
    assert browser.value(current) == "1"
    browser.press("j")
    assert browser.value("document.activeElement.id") == "s1-f2"
    browser.press("k")
    assert browser.value("document.activeElement.id") == "s1-f1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(browser: chromium.Page, address: str, scheme: str) -> None:
    browser.prefer(scheme)
    browser.open(address, 1280, 900)
    assert browser.value(CONTRAST) >= 4.5


# The lowest contrast (WCAG 2.2) of any text against the first opaque background behind it.
CONTRAST = """(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = node => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  let worst = 21;
  for (const node of document.querySelectorAll('main *, nav *')) {
    if (![...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()) || node.closest('svg')) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return worst;
})()"""
