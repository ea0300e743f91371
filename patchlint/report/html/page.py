"""The whole page: overview, navigation, patches, what was not analysed, the rules that spoke."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence

from patchlint.model import SEVERITIES, Finding, Patch, PatchResult, Review
from patchlint.report.context import ReportContext, RuleHelp
from patchlint.report.html.card import card, chip
from patchlint.report.html.diff import diffs
from patchlint.report.html.element import Markup, breakable, joined, tag
from patchlint.report.html.script import SCRIPT
from patchlint.report.html.style import STYLE
from patchlint.report.places import patch_of
from patchlint.report.wording import place_words, plural, subject_of, tally, verdict_words


def render(reviews: Sequence[Review], context: ReportContext) -> str:
    """The page as one HTML document."""
    title = f"{context.tool.name}: {subject_of(reviews[0])}" if len(reviews) == 1 else context.tool.name
    alone = len(reviews) == 1
    sections = [_series(review, f"s{at}", context, alone) for at, review in enumerate(reviews, start=1)]
    main = tag("main", _header(reviews), *sections, _rules(reviews, context), _footer(context), id="main")
    body = tag(
        "body",
        tag("a", "Skip to the findings", href="#main", class_="skip"),
        tag("div", _navigation(reviews), main, class_="page"),
        tag("script", Markup(SCRIPT)),
    )
    return f'<!DOCTYPE html>\n<html lang="en">\n{_head(title)}\n{body}\n</html>\n'


def _head(title: str) -> Markup:
    """Only our own style and script may act: their hashes are the whole policy."""
    policy = f"default-src 'none'; style-src '{_hash(STYLE)}'; script-src '{_hash(SCRIPT)}'"
    policy += "; img-src data:; base-uri 'none'; form-action 'none'"
    return Markup(
        '<head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        '<link rel="icon" href="data:,">'
        f"{tag('title', title)}<style>{STYLE}</style></head>"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _header(reviews: Sequence[Review]) -> Markup:
    findings = [finding for review in reviews for finding in review.findings]
    heading = subject_of(reviews[0]) if len(reviews) == 1 else f"{len(reviews)} reviews"
    return tag("header", tag("h1", heading), tag("p", f"{tally(findings)}.", class_="quiet"))


def _idents(review: Review, prefix: str) -> dict[int, str]:
    """The id of each finding's article, by its index in the review."""
    return {at: f"{prefix}-f{at}" for at in range(1, len(review.findings) + 1)}


def _navigation(reviews: Sequence[Review]) -> Markup:
    parts = [part for at, review in enumerate(reviews, start=1) for part in _contents(review, f"s{at}")]
    keys = joined([tag("kbd", "j"), " ", tag("kbd", "k"), " next, previous finding · ", tag("kbd", "↓"), " ",
                   tag("kbd", "↑"), " walk the path"])  # fmt: skip
    return tag("nav", *parts, tag("p", keys, class_="keys"), aria_label="Patches and findings")


def _contents(review: Review, prefix: str) -> Iterator[Markup]:
    yield tag("h2", subject_of(review))
    items = []
    for number, name in _groups(review):
        links = (
            tag("li", tag("a", chip(finding.severity), f" {finding.rule} ", finding.function, href=f"#{ident}"))
            for ident, finding in _of_patch(review, number, prefix)
        )
        items.append(tag("li", tag("a", name, href=f"#{_patch_id(prefix, number)}"), tag("ol", *links)))
    yield tag("ol", *items)


def _groups(review: Review) -> Iterator[tuple[int | None, str]]:
    """(counter, words) of everything that has a section: the patches, then what belongs to none of them."""
    for result in review.patches:
        yield result.n, f"{result.n}. {result.subject}"
    known = {result.n for result in review.patches}
    for number in sorted({finding.patch or 0 for finding in review.findings} - known):
        yield (number, f"Patch {number}") if number else (None, "Findings")


def _of_patch(review: Review, number: int | None, prefix: str) -> list[tuple[str, Finding]]:
    idents = _idents(review, prefix)
    each = enumerate(review.findings, start=1)
    return [(idents[at], finding) for at, finding in each if (finding.patch or None) == number]


def _patch_id(prefix: str, number: int | None) -> str:
    return f"{prefix}-p{number or 0}"


def _series(review: Review, prefix: str, context: ReportContext, alone: bool) -> Markup:
    heading = tag("h2", "Findings" if review.findings else "Nothing found") if alone else tag("h2", subject_of(review))
    parts = [heading, tag("p", _about(review), class_="meta")]
    parts += [tag("p", note, class_="callout") for note in review.notes]
    if review.series is not None and review.series.missing:
        missing = ", ".join(map(str, review.series.missing))
        parts.append(tag("p", f"Missing from the series: patch {missing}.", class_="callout"))
    if review.findings:
        parts.append(_overview(review, prefix))
    parts += [_patch(review, number, prefix, context) for number, _ in _groups(review)]
    parts += _skipped(review)
    return tag("section", *parts, class_="series", id=prefix, aria_label=subject_of(review))


def _about(review: Review) -> str:
    series = review.series
    parts = [review.source]
    if series is not None:
        parts = [series.author, series.version, plural(len(series.patches), "patch", "patches"), review.source]
    base = {"commit": "on commit", "blobs": "on the blobs its index lines name,", "head": "on the tree as it stands",
            "none": "without a tree"}[review.base_kind]  # fmt: skip
    parts.append(f"{base} {review.base_rev[:12]}".strip(" ,"))
    parts.append(tally(review.findings))
    return " · ".join(part for part in parts if part)


def _overview(review: Review, prefix: str) -> Markup:
    heads = ("severity", "rule", "what", "where", "verdict")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in heads)))
    idents = _idents(review, prefix)
    rows = (
        tag(
            "tr",
            tag("td", chip(finding.severity)),
            tag("td", finding.rule, class_="rule"),
            tag("td", tag("a", finding.message, href=f"#{idents[at]}")),
            tag("td", breakable(place_words(finding.file, finding.line))),
            tag("td", verdict_words(finding)),
        )
        for at, finding in sorted(enumerate(review.findings, start=1), key=_worst_first)
    )
    return tag("table", head, tag("tbody", *rows), class_="overview")


def _worst_first(each: tuple[int, Finding]) -> int:
    return -SEVERITIES.index(each[1].severity)


def _patch(review: Review, number: int | None, prefix: str, context: ReportContext) -> Markup:
    found = _of_patch(review, number, prefix)
    idents = {finding: ident for ident, finding in found}
    result = next((each for each in review.patches if each.n == number), None)
    patch = patch_of(review, number)

    def show(finding: Finding) -> Markup:
        return card(review, finding, idents[finding], context)

    parts = list(_patch_head(review, result, patch, [finding for _, finding in found]))
    if patch is not None:
        parts += diffs(patch, [finding for _, finding in found], show)
    else:
        parts += [show(finding) for _, finding in found]
    return tag("section", *parts, class_="patch", id=_patch_id(prefix, number))


def _patch_head(
    review: Review, result: PatchResult | None, patch: Patch | None, findings: list[Finding]
) -> Iterator[Markup]:
    if result is None:
        return
    total = f"/{review.series.total}" if review.series is not None and review.series.total else ""
    yield tag("h3", tag("span", f"{result.n}{total} ", class_="quiet"), result.subject)
    applied = {"exact": "applies", "offset": "applies with offsets", "fragment": "seen only as its hunks show it"}
    author = patch.author if patch is not None else ""
    yield tag("p", " · ".join(filter(None, (author, applied.get(result.applied), tally(findings)))), class_="meta")
    if result.applied == "failed":
        yield tag("p", "This patch does not apply.", class_="callout")
    yield from (tag("p", problem, class_="callout") for problem in result.problems)
    if patch is not None and patch.message.strip():
        yield tag("details", tag("summary", "Commit message"), tag("pre", patch.message.strip("\n")))


def _skipped(review: Review) -> Iterator[Markup]:
    if review.not_analysed:
        items = (
            tag("li", f"{place_words(each.file, each.line)} ", tag("code", each.function), f" {each.reason}")
            for each in review.not_analysed
        )
        count = plural(len(review.not_analysed), "function")
        yield tag("details", tag("summary", f"{count} not analysed"), tag("ul", *items), class_="quiet")


def _rules(reviews: Sequence[Review], context: ReportContext) -> Markup:
    spoke = {finding.rule for review in reviews for finding in review.findings}
    known = [context.rules[rule] for rule in sorted(spoke) if rule in context.rules]
    if not known:
        return Markup()
    return tag("section", tag("h2", "The rules"), *map(_rule, known), class_="series", aria_label="The rules")


def _rule(rule: RuleHelp) -> Markup:
    parts = [tag("h3", tag("span", rule.id, class_="rule"), f" {rule.name}"), tag("p", rule.summary)]
    parts += [tag("p", paragraph, class_="quiet") for paragraph in rule.why.split("\n\n") if paragraph.strip()]
    for word, text in (("Wrong", rule.bad), ("Right", rule.good)):
        if text.strip():
            parts += [tag("p", word, class_="quiet"), tag("pre", text.strip("\n"))]
    return tag("section", *parts, id=f"rule-{rule.id}")


def _footer(context: ReportContext) -> Markup:
    digest = f", rules {context.tool.rules_digest[:12]}" if context.tool.rules_digest else ""
    return tag("footer", tag("p", f"{context.tool.name} {context.tool.version}{digest}. It can be wrong."))
