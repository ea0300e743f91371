import os
from pathlib import Path

import pytest

from patchlint.host import sendings
from patchlint.host.processes import Process, ancestors, process
from patchlint.host.sendings import Counter, Gathered, Sending, file_counter, subject_counter

ALONE = Sending("session-1", None)


def mail(folder: Path, subject: str, name: str = "x.patch") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"From: a@example.org\nSubject: {subject}\n\nbody [9/9]\n")
    return file


@pytest.mark.parametrize(
    ("subject", "counter"),
    [
        ("[PATCH 2/3] x", Counter(2, 3)),
        ("[PATCH net-next v3 02/11] x", Counter(2, 11)),
        ("[PATCH 0/3]\n  folded", Counter(0, 3)),
        ("[PATCH\n 1/3] folded", Counter(1, 3)),
        ("[PATCH] x", None),
        ("x [1/2", None),
        ("[PATCH] 1/2 of it", None),
    ],
)
def test_counter_of_the_subject(subject: str, counter: Counter | None) -> None:
    assert subject_counter(f"From: a\nSubject: {subject}\n\nSubject: [PATCH 9/9]\n".encode()) == counter


def test_counter_of_the_files() -> None:
    assert file_counter({"GIT_SENDEMAIL_FILE_COUNTER": "2", "GIT_SENDEMAIL_FILE_TOTAL": "4"}) == Counter(2, 4)
    assert file_counter({}) is None
    assert file_counter({"GIT_SENDEMAIL_FILE_COUNTER": "x", "GIT_SENDEMAIL_FILE_TOTAL": "4"}) is None


def test_without_counters_n_of_m_tells_the_last(tmp_path: Path) -> None:
    gathered = Gathered(tmp_path / "state", ALONE)
    for number, whole in ((0, False), (1, False), (2, True)):
        file = mail(tmp_path / "out", f"[PATCH {number}/2] x", f"{number}.patch")
        assert gathered.add(file, file.read_bytes(), None) is whole
    assert [path.name for path in gathered.mails()] == ["00001-0.patch", "00002-1.patch", "00003-2.patch"]
    gathered.clear()
    assert gathered.mails() == []


def test_a_patch_alone_is_whole(tmp_path: Path) -> None:
    file = mail(tmp_path / "out", "[PATCH] x")
    assert Gathered(tmp_path / "state", ALONE).add(file, file.read_bytes(), None)


def test_a_cover_letter_begins_afresh_where_processes_are_unknown(tmp_path: Path) -> None:
    gathered = Gathered(tmp_path / "state", ALONE)
    for subject in ("[PATCH 1/3] old", "[PATCH 0/2] new"):
        file = mail(tmp_path / "out", subject)
        gathered.add(file, file.read_bytes(), None)
    assert len(gathered.mails()) == 1


def test_the_command_line_tells_the_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [mail(tmp_path / "out", f"[PATCH {n}/9] x", f"{n}.patch") for n in (1, 2)]
    sender = Process(1, 0, "5", ("perl", "git-send-email", "--to=a", "out/1.patch", "out/2.patch"))
    monkeypatch.setattr(sendings, "first_folder", lambda pid: tmp_path)
    gathered = Gathered(tmp_path / "state", Sending("1-5", sender))
    assert [gathered.add(file, file.read_bytes(), None) for file in files] == [False, True]


def test_the_folder_of_format_patch_tells_the_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [mail(tmp_path / "made", f"[PATCH {n}/9] x", f"{n}.patch") for n in (1, 2)]
    sender = Process(1, 0, "5", ("perl", "git-send-email", "-2"))
    monkeypatch.setattr(sendings, "first_folder", lambda pid: tmp_path)
    gathered = Gathered(tmp_path / "state", Sending("1-5", sender))
    assert [gathered.add(file, file.read_bytes(), None) for file in files] == [False, True]


def test_what_ended_sendings_left_is_removed_and_running_ones_are_kept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    me = process(os.getpid())
    if me is None:
        pytest.skip("no /proc here")
    for name in ("4194305-1", f"{me.pid}-0", f"{me.pid}-{me.started}"):
        (state / name).mkdir(parents=True)
    file = mail(tmp_path / "out", "[PATCH 1/2] x")
    Gathered(state, ALONE).add(file, file.read_bytes(), None)
    assert sorted(path.name for path in state.iterdir()) == sorted([f"{me.pid}-{me.started}", "session-1"])


def test_ancestors_are_told_apart_by_their_start() -> None:
    parent = next(ancestors(), None)
    if parent is None:
        pytest.skip("no /proc here")
    assert parent.pid == os.getppid()
    assert parent.started.isdigit() and parent.argv
    assert process(4194305) is None
