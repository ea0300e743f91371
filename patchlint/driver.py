"""The pipeline: the only place that touches files, git, the clock and processes (through host/)."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from patchlint import __version__
from patchlint.callgraph import TreeIndex
from patchlint.host.collector import collect_all, collect_rarely
from patchlint.host.index_store import Progress, cache_folder, open_index
from patchlint.host.inputs import read_inputs
from patchlint.host.rulefiles import load_ruleset
from patchlint.host.sources import SourceFile, read_source, source_files
from patchlint.host.tree import GitTree, Tree, default_tree, format_range, open_tree
from patchlint.mail import read_mail
from patchlint.model import Confidence, Message, NotAnalysed, PatchlintError, Review, Series, Severity
from patchlint.report import Renderer, ReportContext, RuleHelp, ToolInfo
from patchlint.report.pathway import path_nodes
from patchlint.report.text import TextStyle
from patchlint.report.text import render as render_text
from patchlint.review import (
    FileReview,
    Selection,
    TreeKnowledge,
    Views,
    choose_findings,
    fingerprints,
    join,
    review_file,
    review_series,
)
from patchlint.review.preferences import Preferences, prefer
from patchlint.ruleset import Ruleset
from patchlint.series import assemble, choose

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

_FEW_FILES = 8
"""Fewer files than this are not worth starting processes for."""
_KEPT_FILES = 200
"""After so many files what was worked out of the tree is dropped, to bound the memory."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for; names as in the contract."""

    tree: Path | None = None
    no_tree: bool = False
    base: str | None = None
    fmt: str = "text"
    output: Path | None = None
    rules: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = "medium"
    fail_on: str = "warning"
    show_all: bool = False
    jobs: int = 1
    baseline: Path | None = None
    write_baseline: Path | None = None
    quiet: bool = False
    verbose: bool = False
    stats: bool = False
    also: tuple[tuple[str, Path], ...] = ()
    """Further reports: (format, file)."""
    severities: tuple[tuple[str, Severity], ...] = ()
    """From the config file: (rule id or prefix, severity)."""
    only_paths: tuple[str, ...] = ()
    """From the config file: globs of the files spoken of."""


class Silence:
    """A progress that nobody sees."""

    def advance(self, done: int, total: int) -> None:
        """Nothing is shown."""

    def note(self, text: str) -> None:
        """Nothing is shown."""


@dataclass(slots=True)
class Desk:
    """All that is opened once for a command: the tree, the rules, what to show."""

    options: Options
    tree: Tree | None
    ruleset: Ruleset
    selection: Selection
    progress: Progress
    _indexes: dict[str, TreeIndex] = field(default_factory=dict)
    _surroundings: TreeKnowledge | None = None
    _asked: int = 0

    def surroundings(self) -> TreeKnowledge:
        """What is known of the tree as it stands, shared by many files and forgotten now and then."""
        if self._surroundings is None or self._asked % _KEPT_FILES == 0:
            read = self.tree.read if self.tree is not None else None
            if self._surroundings is not None:
                self._surroundings = None
                collect_all()
            self._surroundings = TreeKnowledge(self.index(self.tree), self.ruleset, frozenset(), read)
        self._asked += 1
        return self._surroundings

    def index(self, tree: Tree | None) -> TreeIndex:
        """The index of the tree at its revision, built when first asked for; an empty one without a tree."""
        rev = tree.rev if tree is not None else "none"
        if rev not in self._indexes:
            self._indexes[rev] = TreeIndex() if tree is None else open_index(tree, self.progress, self.options.jobs)
        return self._indexes[rev]


def open_desk(options: Options, progress: Progress | None = None) -> Desk:
    """Open tree, rules and baseline; raises PatchlintError for what is not there or not readable."""
    ruleset = load_ruleset(options.rules, cache_folder())
    _check_names(options, ruleset)
    baseline = read_baseline(options.baseline) if options.baseline else frozenset()
    selection = Selection(options.select, options.ignore, options.min_confidence, options.show_all, baseline)
    return Desk(options, find_tree(options), ruleset, selection, progress or Silence())


def find_tree(options: Options) -> Tree | None:
    """The tree that the options name, or the kernel tree one stands in."""
    if options.no_tree:
        if options.base:
            raise PatchlintError("--base needs a tree")
        return None
    if options.tree is not None:
        return open_tree(options.tree, options.base)
    found = default_tree(Path.cwd(), options.base)
    if found is None and options.base:
        raise PatchlintError("--base needs a tree (--tree DIR)")
    return found


def _check_names(options: Options, ruleset: Ruleset) -> None:
    for option, names in (("--select", options.select), ("--ignore", options.ignore)):
        for name in names:
            if not name or not any(rule.startswith(name) for rule in ruleset.rules):
                raise PatchlintError(f"{option} {name}: no such rule or prefix (patchlint rules lists them)")


# ------------------------------------------------------------------- reviewing


def review_mail(desk: Desk, paths: Sequence[str], revision: str | None = None) -> Iterator[Review]:
    """A review of each series in the mailboxes, in their order; raises PatchlintError when there is no patch."""
    inputs = read_inputs(paths, sys.stdin.buffer)
    messages = [message for data, source in inputs for message in read_mail(data, source)]
    yield from review_messages(desk, messages, ", ".join(paths), revision)


def review_messages(
    desk: Desk, messages: Sequence[Message], source: str, revision: str | None = None
) -> Iterator[Review]:
    """A review of each series among the mails, in their order; raises PatchlintError when there is no patch."""
    chosen = choose(assemble(messages), revision)
    if not chosen:
        raise PatchlintError(f"{source}: no patch in the input")
    for number, series in enumerate(chosen):
        if len(chosen) > 1:
            desk.progress.advance(number, len(chosen))
        yield _review(desk, series, _based(desk, series))


def holds_patch(messages: Sequence[Message]) -> bool:
    """Whether there is any patch among the mails; a cover letter alone is none."""
    return any(series.patches for series in assemble(messages))


def review_range(desk: Desk, revisions: str) -> Iterator[Review]:
    """A review of the commits ``A..B`` as one series."""
    if not isinstance(desk.tree, GitTree):
        raise PatchlintError("range needs a git clone (stand in it, or --tree DIR)")
    base, mbox = format_range(desk.tree, revisions)
    for series in assemble(read_mail(mbox, revisions)):
        yield _review(desk, replace(series, source=revisions), base)


def _based(desk: Desk, series: Series) -> Tree | None:
    """The tree at the commit the series says it was made on, when the clone has it and the user named none."""
    tree = desk.tree
    if isinstance(tree, GitTree) and desk.options.base is None and series.base_commit:
        commit = tree.resolve(series.base_commit)
        if commit is not None:
            return tree.at(commit, "commit")
    return tree


def _review(desk: Desk, series: Series, tree: Tree | None) -> Review:
    started = time.perf_counter()
    paths = frozenset(
        path for patch in series.patches for diff in patch.files for path in (diff.old_path, diff.new_path) if path
    )
    index = desk.index(tree)
    knowledge = TreeKnowledge(index, desk.ruleset, paths, tree.read if tree is not None else None)
    review = review_series(series, tree, desk.ruleset, knowledge, thorough=desk.options.show_all)
    notes = review.notes
    if tree is None:
        notes = (*notes, "no kernel tree (--tree DIR): judged by what the patches themselves show")
    stats = {**review.stats, "seconds": round(time.perf_counter() - started, 3)}
    return _shown(desk, replace(review, stats=stats, notes=notes))


def _shown(desk: Desk, review: Review) -> Review:
    """The review with what the user asks to see."""
    preferences = Preferences(desk.options.severities, desk.options.only_paths)
    return prefer(choose_findings(review, desk.selection), preferences)


# ----------------------------------------------------------------------- files


def review_files(desk: Desk, paths: Sequence[Path]) -> Iterator[Review]:
    """One review of all C files among and below ``paths``; when interrupted, of those done so far."""
    started = time.perf_counter()
    files = source_files(paths, desk.tree.root if desk.tree is not None else None)
    desk.index(desk.tree)
    parts: list[FileReview] = []
    try:
        for part in _each_file(desk, files):
            parts.append(part)
            desk.progress.advance(len(parts), len(files))
    except KeyboardInterrupt:
        yield _joined(desk, paths, parts, started)
        raise
    yield _joined(desk, paths, parts, started)


def _joined(desk: Desk, paths: Sequence[Path], parts: Sequence[FileReview], started: float) -> Review:
    source = " ".join(str(path) for path in paths)
    review = join(source, desk.tree.rev if desk.tree is not None else "", parts)
    stats = {**review.stats, "seconds": round(time.perf_counter() - started, 3)}
    return _shown(desk, replace(review, stats=stats))


def _each_file(desk: Desk, files: Sequence[SourceFile]) -> Iterator[FileReview]:
    jobs = min(desk.options.jobs, len(files))
    if jobs < 2 or len(files) < _FEW_FILES:
        yield from (_review_one(desk, file) for file in files)
        return
    # Imported here because a review of one mail, which must be quick, starts no processes.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawn: a forked child would share the parent's git process and database.
    context = get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=(desk.options, stop))
    try:
        yield from pool.map(_work, files, chunksize=4)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


_worker: list[tuple[Desk, Event]] = []
"""The desk of a worker process, opened by its initializer, and what says that nobody waits for it any more."""


def _start_worker(options: Options, stop: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    _worker.append((open_desk(options), stop))


def _work(file: SourceFile) -> FileReview:
    desk, stop = _worker[0]
    return FileReview() if stop.is_set() else _review_one(desk, file)


def _review_one(desk: Desk, file: SourceFile) -> FileReview:
    data = read_source(file)
    if isinstance(data, NotAnalysed):
        return FileReview(not_analysed=(data,))
    view = Views(desk.tree, desk.ruleset.models).view(file.name, data)
    return review_file(view, desk.ruleset, desk.surroundings())


# --------------------------------------------------------------------- reports


def report_context(desk: Desk) -> ReportContext:
    """What reports are given: the tool, the help of the rules, source lines."""
    notes = {
        rule.id: RuleHelp(
            rule.id, rule.name, rule.summary, rule.why, rule.bad, rule.good, rule.severity, rule.references
        )
        for rule in desk.ruleset.rules.values()
    }
    return ReportContext(ToolInfo(__version__, desk.ruleset.digest), notes, _source_line, path_nodes)


def report(reviews: Sequence[Review], desk: Desk, fmt: str, style: TextStyle | None = None) -> str:
    """The reviews in one format; ``style`` is for text."""
    context = report_context(desk)
    if fmt == "text":
        return render_text(reviews, context, style)
    render: Renderer = import_module(f"patchlint.report.{fmt}").render
    return render(reviews, context)


def _source_line(review: Review, patch: int | None, file: str, line: int) -> str | None:
    return review.excerpts.get((file, patch or 0), {}).get(line)


def rule_book(folders: Sequence[Path] = ()) -> Ruleset:
    """The rule set of the built-in rules and the user's folders."""
    return load_ruleset(folders, cache_folder())


# -------------------------------------------------------------------- baseline


def read_baseline(path: Path) -> frozenset[str]:
    """The fingerprints that a baseline file lists."""
    try:
        document = json.loads(path.read_bytes())
        return frozenset(str(entry) for entry in document["fingerprints"])
    except OSError as error:
        raise PatchlintError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise PatchlintError(f"{path}: not a baseline that patchlint wrote") from error


def write_baseline(path: Path, reviews: Sequence[Review]) -> None:
    """List the findings of the reviews as known."""
    text = json.dumps({"version": 1, "fingerprints": fingerprints(reviews)}, indent=1) + "\n"
    write_text(path, text)


def write_text(path: Path, text: str) -> None:
    """Write a report or baseline; raises PatchlintError where that fails."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise PatchlintError(f"{path}: {error.strerror}") from error
