from dataclasses import replace

from report_samples import CLEAN, CONTEXT, LEAK, REVIEW

from patchlint.report import markdown


def test_a_table_and_folded_paths() -> None:
    text = markdown.render((REVIEW,), CONTEXT)
    assert text.startswith("## patchlint: 1 error, 1 warning, 1 note\n")
    assert "2 patches on <code>0123456789ab</code>: 1 error, 1 warning, 1 note." in text
    rows = [line for line in text.splitlines() if line.startswith("| ") and "|---" not in line]
    assert len(rows) == 4
    assert rows[1].startswith(
        "| ⚠️ warning | REF001 | <code>drivers\\/misc\\/widget.c\\:16</code> in <code>widget\\_probe"
    )
    assert text.count("<details>") == 3


def test_the_path_shows_source_lines() -> None:
    text = markdown.render((REVIEW,), CONTEXT)
    assert "drivers/misc/widget.c:16: leaves the function without dropping it\n    return -EIO;" in text


def test_hostile_text_stays_text() -> None:
    text = markdown.render((REVIEW,), CONTEXT)
    assert "<img" not in text and "</script>" not in text
    assert "\x1b" not in text and "\u202e" not in text
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        assert row.replace("\\|", "").count("|") == 6


def test_the_limit_is_kept_and_told() -> None:
    big = replace(LEAK, message="x" * 1000)
    text = markdown.render((replace(REVIEW, findings=(big,) * 1200),), CONTEXT)
    assert len(text.encode()) < 1024 * 1024
    assert "left out: GitHub shows 1 MiB of a summary." in text


def test_nothing_found() -> None:
    assert markdown.render((CLEAN,), CONTEXT).splitlines()[0] == "## patchlint: no findings"


def test_patches_that_did_not_apply_are_named() -> None:
    failed = replace(REVIEW.patches[0], applied="failed")
    text = markdown.render((replace(REVIEW, patches=(failed,)),), CONTEXT)
    assert "Did not apply: 1 (misc\\: widget\\: find the node)." in text
