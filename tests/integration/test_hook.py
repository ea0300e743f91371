"""The hook under the real ``git send-email`` with a fake sendmail, and called as git from 2.41 on calls it."""

import subprocess
import sys
from pathlib import Path

import pytest
from scratch import MENDED, PATCHLINT, PROBE, SPEED, WIDGET, Repository, environment, kernel, run

SEND_EMAIL = (
    Path(subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip()) / "git-send-email"
)
needs_send_email = pytest.mark.skipif(
    not SEND_EMAIL.exists(), reason="no git send-email here (Debian: git-email; .ci/setup-tools installs it)"
)


class Sender:
    """A work tree, its hook, and a sendmail that only counts."""

    def __init__(self, tree: Repository) -> None:
        self.tree = tree
        self.home = tree.folder.parent
        self.hooks = tree.folder / ".git/hooks"
        self.hook = self.hooks / "sendemail-validate"
        self._sent = self.home / "sent"
        sendmail = self.home / "sendmail"
        sendmail.write_text(f"#!/bin/sh\ncat > /dev/null\necho sent >> '{self._sent}'\n")
        sendmail.chmod(0o755)
        tree.git("config", "sendemail.smtpServer", sendmail)
        tree.git("config", "sendemail.from", "ada@example.org")
        tree.git("config", "sendemail.to", "list@example.org")
        tree.git("config", "sendemail.confirm", "never")

    def install(self) -> str:
        return self.patchlint("install").stdout

    def patchlint(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        return run(PATCHLINT, "hook", *words, cwd=self.tree.folder, env=self.tree.env, status=status)

    def send(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        env = {**self.tree.env, **more}
        return run("git", "send-email", *words, cwd=self.tree.folder, env=env, status=None)

    @property
    def sent(self) -> int:
        return self._sent.read_text().count("sent") if self._sent.exists() else 0

    @property
    def kept(self) -> list[str]:
        """What is left of sendings."""
        folder = self.tree.folder / ".git/patchlint/sendings"
        return [str(path) for path in folder.rglob("*")] if folder.is_dir() else []

    def series(self, *probes: str) -> list[Path]:
        """Three patches with a cover letter: speed, then the two given states of the driver."""
        first = WIDGET + SPEED
        for number, text in enumerate((first, *(first + probe for probe in probes))):
            self.tree.commit(f"misc: widget: part {number + 1}", drivers__misc__widget_c=text)
        out = self.home / "out"
        self.tree.git("format-patch", "-q", "--cover-letter", "-o", out, f"-{len(probes) + 1}")
        cover = out / "0000-cover-letter.patch"
        text = cover.read_text().replace("*** SUBJECT HERE ***", "widgets").replace("*** BLURB HERE ***", "They work.")
        cover.write_text(text)
        return sorted(out.iterdir())


@pytest.fixture
def sender(tmp_path: Path) -> Sender:
    return Sender(kernel(tmp_path / "linux", environment(tmp_path)))


LEAKY = (PROBE, PROBE + "\n/* done */\n")
"""Patch 2 brings a leak that patch 3 keeps."""
CLEAN = (MENDED, MENDED + "\n/* done */\n")
PASSING = (PROBE, MENDED)
"""Patch 2 brings a leak that patch 3 mends."""


@needs_send_email
class TestSending:
    def test_a_leak_stops_the_whole_series(self, sender: Sender) -> None:
        sender.install()
        done = sender.send(*sender.series(*LEAKY))
        assert done.returncode != 0
        assert sender.sent == 0
        assert done.stderr.count("REF001") == 1, done.stderr
        assert "drivers/misc/widget.c:" in done.stderr
        assert "patchlint: nothing was sent" in done.stderr
        assert "rejected by sendemail-validate hook" in done.stderr
        assert sender.kept == []

    def test_a_clean_series_is_sent_with_its_cover(self, sender: Sender) -> None:
        sender.install()
        done = sender.send(*sender.series(*CLEAN))
        assert done.returncode == 0, done.stderr
        assert sender.sent == 4
        assert sender.kept == []

    def test_the_series_is_seen_as_a_whole(self, sender: Sender) -> None:
        sender.install()
        done = sender.send(*sender.series(*PASSING))
        assert done.returncode == 0, done.stderr
        assert "repaired by patch 3" in done.stderr
        assert sender.sent == 4

    def test_a_dry_run_is_reviewed_too(self, sender: Sender) -> None:
        sender.install()
        done = sender.send("--dry-run", *sender.series(*LEAKY))
        assert done.returncode != 0 and "REF001" in done.stderr

    def test_revisions_instead_of_files(self, sender: Sender) -> None:
        sender.install()
        sender.series(*LEAKY)
        done = sender.send("-3")
        assert done.returncode != 0
        assert done.stderr.count("REF001") == 1
        assert sender.sent == 0

    def test_a_folder_instead_of_files(self, sender: Sender) -> None:
        sender.install()
        folder = sender.series(*LEAKY)[0].parent
        assert sender.send(folder).stderr.count("REF001") == 1

    def test_a_part_of_the_series_is_reviewed_at_its_last_mail(self, sender: Sender) -> None:
        sender.install()
        done = sender.send(*sender.series(*LEAKY)[1:3])
        assert done.returncode != 0
        assert done.stderr.count("REF001") == 1
        assert sender.sent == 0

    def test_files_named_from_a_folder_below(self, sender: Sender) -> None:
        sender.install()
        names = [Path("../../../out") / path.name for path in sender.series(*LEAKY)[1:3]]
        below = Repository(sender.tree.folder / "drivers/misc", sender.tree.env)
        env = {**below.env, "PWD": str(below.folder)}
        done = run("git", "send-email", *names, cwd=below.folder, env=env, status=None)
        assert done.stderr.count("REF001") == 1, done.stderr

    def test_a_mail_without_a_patch_is_no_trouble(self, sender: Sender) -> None:
        sender.install()
        note = sender.home / "note.txt"
        note.write_text("From: Ada <ada@example.org>\nSubject: hello\n\nNo patch in here.\n")
        assert sender.send(note).returncode == 0
        assert sender.sent == 1

    def test_a_cover_letter_alone_is_no_trouble(self, sender: Sender) -> None:
        sender.install()
        assert sender.send(sender.series(*LEAKY)[0]).returncode == 0
        assert sender.sent == 1

    @pytest.mark.parametrize("way", ["variable", "config", "once"])
    def test_skipping(self, sender: Sender, way: str) -> None:
        sender.install()
        files = sender.series(*LEAKY)
        if way == "variable":
            done = sender.send(*files, PATCHLINT_SKIP="1")
        elif way == "config":
            sender.tree.git("config", "patchlint.skip", "true")
            done = sender.send(*files)
        else:
            done = run("git", "-c", "patchlint.skip=true", "send-email", *files, cwd=sender.tree.folder,
                       env=sender.tree.env, status=None)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "patchlint: not reviewed" in done.stderr
        assert sender.sent == 4

    def test_the_severity_is_configured(self, sender: Sender) -> None:
        sender.install()
        sender.tree.git("config", "patchlint.failOn", "never")
        done = sender.send(*sender.series(*LEAKY))
        assert done.returncode == 0, done.stderr
        assert "REF001" in done.stderr and sender.sent == 4

    def test_a_wrong_setting_is_told_and_stops(self, sender: Sender) -> None:
        sender.install()
        sender.tree.git("config", "patchlint.failOn", "sometimes")
        done = sender.send(*sender.series(*CLEAN))
        assert done.returncode != 0
        assert "git config patchlint.failOn: 'sometimes' is none of note, warning, error, never" in done.stderr

    def test_an_interrupted_sending_leaves_nothing_for_the_next(self, sender: Sender) -> None:
        sender.hooks.mkdir(exist_ok=True)
        sender.hook.write_text("#!/bin/sh\ngrep -q 'Subject.*2/3' \"$1\" && [ -e ../stop ] && exit 1\nexit 0\n")
        sender.hook.chmod(0o755)
        sender.install()
        files = sender.series(*LEAKY)
        (sender.home / "stop").touch()
        assert sender.send(*files).returncode != 0
        assert sender.kept != []
        (sender.home / "stop").unlink()
        note = sender.home / "note.patch"
        note.write_text(files[1].read_text().replace("PATCH 1/3", "PATCH"))
        done = sender.send(note)
        assert done.returncode == 0, done.stderr
        assert "REF001" not in done.stderr
        assert sender.kept == []

    def test_two_sendings_at_the_same_time_are_told_apart(self, sender: Sender) -> None:
        sender.install()
        leaky = sender.series(*LEAKY)
        clean = [sender.home / f"clean-{number}.patch" for number in (1, 2)]
        for number, file in enumerate(clean, start=1):
            file.write_text(
                leaky[1].read_text().replace("PATCH 1/3", f"PATCH {number}/2").replace("part 1", f"{number}")
            )
        clean[1].write_text(clean[1].read_text().replace("widget.c", "gadget.c"))
        running = [
            subprocess.Popen(["git", "send-email", *files], cwd=sender.tree.folder, env=sender.tree.env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for files in (leaky, clean)
        ]  # fmt: skip
        said = [each.communicate(timeout=120)[1] for each in running]
        assert running[0].returncode != 0
        assert "REF001" in said[0] and "REF001" not in said[1], said
        assert "misc: widget: part 2" in said[0] and "part 2" not in said[1]
        assert sender.kept == []

    @pytest.mark.parametrize("program", ["/nonexistent/python", "sh -c 'kill -9 $$'", "false"])
    def test_a_crash_is_told_and_stops(self, sender: Sender, program: str) -> None:
        sender.install()
        self._break(sender, program)
        done = sender.send(*sender.series(*CLEAN))
        assert done.returncode != 0
        assert "patchlint: the review did not work (exit status" in done.stderr
        assert sender.sent == 0

    def test_a_crash_passes_loudly_when_configured(self, sender: Sender) -> None:
        sender.install()
        self._break(sender, "/nonexistent/python")
        sender.tree.git("config", "patchlint.onCrash", "pass")
        done = sender.send(*sender.series(*CLEAN))
        assert done.returncode == 0, done.stderr
        assert "patchlint: NOT REVIEWED, and sent all the same" in done.stderr
        assert sender.sent == 4

    def _break(self, sender: Sender, program: str) -> None:
        lines = sender.hook.read_text().splitlines()
        (at,) = [index for index, line in enumerate(lines) if " hook run " in line]
        lines[at] = f"{program} hook run"
        sender.hook.write_text("\n".join(lines) + "\n")

    def test_core_hookspath_is_respected(self, sender: Sender) -> None:
        sender.tree.git("config", "core.hooksPath", "tools/hooks")
        assert str(sender.tree.folder / "tools/hooks/sendemail-validate") in sender.install()
        assert sender.send(*sender.series(*LEAKY)).returncode != 0
        assert not sender.hook.exists()


class TestNewerGit:
    """From git 2.41 on: a second argument, the SMTP headers, and the counters of files."""

    def call(self, sender: Sender, mail: Path, counter: int, total: int) -> subprocess.CompletedProcess[str]:
        headers = sender.home / "headers"
        headers.write_text("From: ada@example.org\nTo: list@example.org\n")
        env = {**sender.tree.env, "GIT_SENDEMAIL_FILE_COUNTER": str(counter), "GIT_SENDEMAIL_FILE_TOTAL": str(total)}
        env["GIT_DIR"] = str(sender.tree.folder / ".git")
        words = ("git", "hook", "run", "sendemail-validate", "--", mail, headers)
        return run(*words, cwd=sender.tree.folder, env=env, status=None)

    def statuses(self, sender: Sender, files: list[Path]) -> list[int]:
        return [self.call(sender, mail, at, len(files)).returncode for at, mail in enumerate(files, start=1)]

    def test_the_last_counter_brings_the_review(self, sender: Sender) -> None:
        sender.install()
        files = sender.series(*LEAKY)
        assert self.statuses(sender, files) == [0, 0, 0, 1]
        assert sender.kept == []

    def test_a_clean_series_passes(self, sender: Sender) -> None:
        sender.install()
        assert self.statuses(sender, sender.series(*CLEAN)) == [0, 0, 0, 0]

    def test_the_first_counter_begins_afresh(self, sender: Sender) -> None:
        sender.install()
        files = sender.series(*LEAKY)
        assert self.call(sender, files[2], 1, 3).returncode == 0
        alone = sender.home / "alone.patch"
        alone.write_text(files[1].read_text().replace("PATCH 1/3", "PATCH"))
        done = self.call(sender, alone, 1, 1)
        assert done.returncode == 0 and "REF001" not in done.stderr, done.stderr
        assert sender.kept == []


class TestInstalling:
    OTHER = "#!/bin/sh\necho other >> ../other\n"

    def test_an_earlier_hook_is_called_first_and_comes_back(self, sender: Sender) -> None:
        sender.hooks.mkdir(exist_ok=True)
        sender.hook.write_text(self.OTHER)
        sender.hook.chmod(0o755)
        assert "is called first" in sender.install()
        mail = sender.series(*CLEAN)[1]
        run(sender.hook, mail, cwd=sender.tree.folder, env=sender.tree.env)
        assert (sender.home / "other").read_text() == "other\n"
        assert "the earlier hook is back" in sender.patchlint("uninstall").stdout
        assert sender.hook.read_text() == self.OTHER
        assert sorted(path.name for path in sender.hooks.glob("sendemail-validate*")) in (
            ["sendemail-validate"], ["sendemail-validate", "sendemail-validate.sample"])  # fmt: skip

    def test_an_earlier_hook_that_refuses_is_heard(self, sender: Sender) -> None:
        sender.hooks.mkdir(exist_ok=True)
        sender.hook.write_text("#!/bin/sh\nexit 7\n")
        sender.hook.chmod(0o755)
        sender.install()
        run(sender.hook, sender.series(*CLEAN)[1], cwd=sender.tree.folder, env=sender.tree.env, status=7)

    def test_installing_twice_updates(self, sender: Sender) -> None:
        assert sender.install().startswith("installed: ")
        first = sender.hook.read_text()
        assert sender.install().startswith("updated: ")
        assert sender.hook.read_text() == first
        assert sender.patchlint("uninstall").stdout.startswith("removed: ")
        assert not sender.hook.exists()

    def test_uninstalling_leaves_a_foreign_hook_alone(self, sender: Sender) -> None:
        sender.hooks.mkdir(exist_ok=True)
        sender.hook.write_text(self.OTHER)
        assert sender.patchlint("uninstall").stdout.startswith("no hook of patchlint's")
        assert sender.hook.read_text() == self.OTHER

    def test_outside_of_a_repository_is_one_line(self, sender: Sender) -> None:
        done = run(PATCHLINT, "hook", "install", "--repo", sender.home, cwd=sender.home, env=sender.tree.env, status=2)
        assert done.stderr == f"patchlint: {sender.home}: not in a git repository\n"


def test_a_call_before_the_last_does_not_load_the_pipeline() -> None:
    script = "import sys, patchlint.cli.hook; print('patchlint.driver' in sys.modules, 'networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
