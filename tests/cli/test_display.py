"""What commands show on standard error: bars on a terminal, lines without one, JSON for machines; nothing on output."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from camber.cli import display
from camber.progress import BEGIN, END, GOING, Event, log

RUN = "from camber.cli import main; main()"
#: shows every step at once, and looks often, so that a small training shows its bars, too
AT_ONCE = (
    f"import camber.cli.display as d, camber.progress as p; d.PATIENCE = p.EVERY = 0.0; d.Bars.interval = 0.002; {RUN}"
)


def command(*words: object, code: str = RUN) -> list[str]:
    return [sys.executable, "-c", code, *map(str, words)]


def on_terminal(words: list[str], **environment: str) -> tuple[int, bytes, str]:
    """Run a command whose standard error is a terminal; return its exit code, its output, and what was shown."""
    ours, theirs = pty.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL, env=variables) as run:
        os.close(theirs)
        stop = threading.Timer(300, run.kill)
        stop.start()
        shown = b""
        while True:
            try:
                data = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            shown += data
        assert run.stdout is not None
        output = run.stdout.read()
        code = run.wait()
        stop.cancel()
    os.close(ours)
    return code, output, shown.decode()


def small_training(files: Path, model: Path) -> list[object]:
    dev = ["--dev-source", files / "dev.es", "--dev-target", files / "dev.en"]
    sides = ["--source", files / "train.es", "--target", files / "train.en"]
    return ["train", *sides, "--model", model, *dev, "--iterations", 2, "--nbest", 20, "--threads", 1]


@pytest.mark.slow
def test_a_training_shows_bars_on_a_terminal_and_takes_them_away(hotel_files: Path, tmp_path: Path) -> None:
    code, output, shown = on_terminal(command(*small_training(hotel_files, tmp_path / "model"), code=AT_ONCE))
    assert code == 0
    assert output == b""
    assert "━" in shown
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown)
    assert re.search(r"\d+ of \d+ (pairs|sentences) \(\d+ %\), [\d,.]+/s, \d:\d\d left", plain)
    assert "round 1 of at most 2" in plain
    assert re.search(r"align: done in [\d.]+ s", shown)  # messages stand above, and stay
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") > 0  # the cursor is there again
    assert "━" not in shown[shown.rindex("model: ") :]


@pytest.mark.slow
@pytest.mark.parametrize("terminal", ["dumb", ""])
def test_a_poor_terminal_gets_lines(terminal: str, hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    words = small_training(hotel_files, tmp_path / "model")
    code, output, shown = on_terminal(command(*words, code=AT_ONCE), TERM=terminal)
    assert (code, output) == (0, b"")
    assert "\x1b" not in shown
    assert "━" not in shown


@pytest.mark.slow
def test_translating_to_a_terminal_and_to_a_file_give_the_same_text(hotel_model: Path, hotel_files: Path) -> None:
    words = ["translate", hotel_model, "--input", hotel_files / "test.es", "--threads", 1]
    plain = subprocess.run(command(*words), capture_output=True, timeout=300, check=True)
    code, output, _ = on_terminal(command(*words, code=AT_ONCE))
    assert code == 0
    assert output == plain.stdout
    assert plain.stderr == b""


@pytest.mark.slow
def test_rich_is_imported_only_when_something_is_shown(hotel_model: Path) -> None:
    ours, theirs = pty.openpty()
    told = f"import atexit, sys; atexit.register(lambda: print('rich' in sys.modules)); {RUN}"
    run = subprocess.run(
        command("info", hotel_model, code=told), stdout=subprocess.PIPE, stderr=theirs, timeout=300, check=True
    )
    os.close(ours), os.close(theirs)
    assert run.stdout.splitlines()[-1] == b"False"


@pytest.mark.slow
def test_json_is_an_object_a_line_and_standard_output_has_the_result(hotel_files: Path, tmp_path: Path) -> None:
    words = [*small_training(hotel_files, tmp_path / "model"), "--json"]
    run = subprocess.run(command(*words), capture_output=True, timeout=300, check=True)
    result = json.loads(run.stdout)
    assert result["model"] == str(tmp_path / "model")
    assert result["kind"] == "phrase"
    events = [json.loads(line) for line in run.stderr.decode().splitlines()]
    begun = [tuple(event["path"]) for event in events if event["event"] == "begin"]
    ended = [tuple(event["path"]) for event in events if event["event"] == "end"]
    assert sorted(begun) == sorted(ended)
    assert {("corpus",), ("align",), ("lm",), ("rules",), ("tune",)} <= set(begun)
    rounds = [event for event in events if event["event"] == "result" and event["path"][-1] == "round"]
    assert [event["number"] for event in rounds] == [1, 2]
    assert all(event["path"][0] == "tune" and event["metric"] == "BLEU" for event in rounds)
    assert result["weights"].startswith("tuner:blend")
    assert f"dev:{max(event['score'] for event in rounds):.2f}" in result["weights"]
    assert any(event["event"] == "info" and event["message"].startswith("kept ") for event in events)
    assert not any(event.get("message", "").startswith("align: done") for event in events)  # its event says so


@pytest.mark.slow
@pytest.mark.parametrize("flags", [["--json"], ["--json", "--quiet"]])
def test_errors_and_wrong_usage_are_json_too(flags: list[str], tmp_path: Path) -> None:
    for words, code in ((["translate", tmp_path / "nothing"], 1), (["translate"], 2)):
        run = subprocess.run(command(*flags, *words), capture_output=True, timeout=300, check=False)
        assert run.returncode == code
        [event] = [json.loads(line) for line in run.stderr.decode().splitlines()]
        assert (event["event"], event["code"]) == ("error", code)
        assert event["message"]


@pytest.mark.slow
def test_ctrl_c_ends_a_training_whose_next_run_gives_the_same_model(hotel_files: Path, tmp_path: Path) -> None:
    once = small_training(hotel_files, tmp_path / "once")
    subprocess.run(command(*once), capture_output=True, timeout=300, check=True)
    words = small_training(hotel_files, tmp_path / "twice")
    with subprocess.Popen(command("--json", *words), stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if json.loads(line).get("path") == ["rules"]:
                run.send_signal(signal.SIGINT)
                break
        rest = [json.loads(line) for line in run.stderr]
        assert run.wait(300) == 130
    assert rest[-1] == {"event": "error", "message": "interrupted", "code": 130}
    assert not (tmp_path / "twice").exists()
    again = subprocess.run(command(*words), capture_output=True, text=True, timeout=300, check=True)
    assert "align: unchanged, kept" in again.stderr
    for name in ("weights.tsv", "model.toml"):
        assert (tmp_path / "twice" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


def event(kind: str = GOING, *path: str, number: int = 1, **facts: Any) -> Event:
    return Event(kind, path or ("align",), number=number, began=time.monotonic() - 60.0, **facts)


def test_lines_tell_now_and_then_of_the_innermost_step_that_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    lines = display.Lines()
    lines._last = time.monotonic() - 60.0
    steps = [event(BEGIN, "train"), event(GOING, "train", "align", number=2, done=3, total=6, unit="pairs"),
             event(BEGIN, "train", "align", "deep", number=3)]  # fmt: skip
    with caplog.at_level(logging.INFO, "camber"):
        for _ in range(3):
            lines.look(steps)
    assert [re.sub(r"[\d.]+/s", "N/s", message) for message in caplog.messages] == [
        "train: align: 3 of 6 pairs (50 %), N/s, 1:00 left"
    ]


def test_lines_are_silent_about_short_work(caplog: pytest.LogCaptureFixture) -> None:
    lines = display.Lines()
    lines._last = 0.0
    with caplog.at_level(logging.INFO, "camber"):
        lines.look([Event(BEGIN, ("align",), number=1, began=time.monotonic())])
    assert caplog.messages == []


def test_json_tells_of_a_step_once_in_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    shown = display.JsonDisplay()
    for done in range(1, 100):
        shown(event(GOING, "align", done=done, total=100))
    shown(event(END, "align", done=100, total=100))
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(one["event"], one["done"]) for one in told] == [("progress", 1), ("end", 100)]


def test_a_message_stands_above_the_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    handlers, level = log.handlers[:], log.level
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        display.show()
        try:
            bars = display._shown
            assert isinstance(bars, display.Bars)
            bars.active[1] = event(GOING, "align", done=3, total=6, unit="pairs")
            bars.look([bars.active[1]])
            log.warning("look here [bold]")
            bars.look([bars.active[1]])
            display.hide()
            terminal.flush()
            shown = _all_there_is(ours)
        finally:
            display.close()
            log.handlers[:], log.level = handlers, level
    os.close(ours)
    assert shown.count("look here [bold]") == 1  # no mark-up
    assert shown.index("3 of 6 pairs") < shown.index("look here") < shown.rindex("3 of 6 pairs")
    assert shown.endswith("\x1b[2K") or shown.rindex("\x1b[2K") > shown.rindex("3 of 6 pairs")


def _all_there_is(descriptor: int) -> str:
    data = b""
    while select.select([descriptor], [], [], 0.5)[0]:
        data += os.read(descriptor, 1 << 16)
    return data.decode()
