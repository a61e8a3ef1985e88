"""How training grows with its text: CPU time and peak memory of every stage of `camber train`.

    python benchmarks/scale.py --data ../shared/data --sizes 10000 100000 1000000 --out scale.json [--memory 2G]
    python benchmarks/scale.py --sizes --out scale.json --draw docs/scale          # tables, and two pictures

Tatoeba fr-en has 158,000 pairs. More are made of them, the same on every machine: in copy *k* a share of the words, but
not of the most frequent ones, has a form of its own (``maison`` becomes ``maisonq7``), and a fifth of the pairs takes
another one behind itself. So the vocabulary and the phrases grow as they do in real text, while what means what can
still be learnt. Pairs are taken in an order that mixes the copies.

Every size is a `camber train` of its own; what its stages take is read from the system while it runs. Each figure is
written as soon as it is there, and a run that was interrupted goes on where it was. Each model is opened by a process
of its own then, which translates a few hundred lines. fast_align's and lmplz' figures were measured elsewhere on other
text (README.md beside this file), and are drawn as lines: so much for a word.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from camber.report.lines import line_chart

ROOT = Path(__file__).resolve().parent.parent

#: words of such ranks are the same in all copies; of the others, a share has forms of its own in each copy
FREQUENT, CHANGED = 150, 0.3
#: one in so many pairs takes another behind itself
JOINED = 5
#: what separates words
WORD = re.compile(r"(\w+)")
_TICKS = os.sysconf("SC_CLK_TCK")
#: seconds between two looks at a process
_PAUSE = 0.05
STAGES = ("corpus", "align", "lm", "rules", "memory")
#: putting the model together, and translating the held-out pairs
FINISH = "model"


# --- text -------------------------------------------------------------------------------------------------------------


def _share(*what: object) -> float:
    """Return a number from 0 to 1 that depends on nothing but `what`."""
    digest = blake2b("\0".join(map(str, what)).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


class Copies:
    """One side of the corpus, and what its words become in each copy."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name, self.lines = name, lines
        counts: dict[str, int] = {}
        for line in lines:
            for word in WORD.findall(line):
                counts[word.lower()] = counts.get(word.lower(), 0) + 1
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        self.fixed = set(ranked[:FREQUENT])
        self._forms: dict[int, dict[str, str]] = {}

    def line(self, number: int, copy: int) -> str:
        """Return a line as it is in a copy; copy 0 is the text itself."""
        if copy == 0:
            return self.lines[number]
        forms = self._forms.setdefault(copy, {})
        pieces = WORD.split(self.lines[number])
        for at in range(1, len(pieces), 2):
            word = pieces[at]
            form = forms.get(word)
            if form is None:
                small = word.lower()
                changes = small not in self.fixed and _share(self.name, copy, small) < CHANGED
                form = forms[word] = f"{word}q{_letters(copy)}" if changes and word.isalpha() else word
            pieces[at] = form
        return "".join(pieces)


def _letters(number: int) -> str:
    """Return a number as letters: digits would be protected as figures are."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def pairs(source: list[str], target: list[str], count: int) -> Iterator[tuple[str, str]]:
    """Yield so many pairs; the first ones of a larger number are other ones, as copies are mixed."""
    sides = Copies("source", source), Copies("target", target)
    size = len(source)
    copies = -(-count // size)
    step = 1_000_003  # a prime: every pair of a copy comes once
    for number in range(count):
        row, copy = (number // copies * step) % size, number % copies
        lines = [side.line(row, copy) for side in sides]
        if copy and number % JOINED == 0:
            other = (row * 31 + copy * 7919) % size
            lines = [f"{line} {side.line(other, copy)}" for line, side in zip(lines, sides, strict=True)]
        yield lines[0], lines[1]


def write_text(data: Path, count: int, folder: Path) -> tuple[Path, Path]:
    """Write a corpus of so many pairs, unless it is there."""
    paths = folder / f"{count}.fr", folder / f"{count}.en"
    if all(path.exists() for path in paths):
        return paths
    text = [(data / "tatoeba-fr-en" / f"train.{code}").read_text("utf-8").splitlines() for code in ("fr", "en")]
    folder.mkdir(parents=True, exist_ok=True)
    drafts = [path.with_suffix(f"{path.suffix}.part") for path in paths]
    with open(drafts[0], "w", encoding="utf-8") as left, open(drafts[1], "w", encoding="utf-8") as right:
        for one, other in pairs(*text, count):
            left.write(one + "\n")
            right.write(other + "\n")
    for draft, path in zip(drafts, paths, strict=True):
        draft.rename(path)
    return paths


# --- measuring --------------------------------------------------------------------------------------------------------


class Watch:
    """CPU time and memory of a process: of this stage, and of all."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.own = self.total = 0  # the largest sizes seen, in kB: without mapped files, and with them
        self._cpu, self._from = 0.0, (0.0, time.monotonic())  # of a process that is gone, the last that was seen
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self.process.poll() is None:
            self._sample()
            time.sleep(_PAUSE)

    def _sample(self) -> None:
        with suppress(OSError, ValueError, KeyError), self._lock:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
            kb = {
                key: int(value.split()[0]) for key, value in re.findall(r"^(Rss\w+|VmRSS|VmHWM):\s+(.*)$", text, re.M)
            }
            self.own = max(self.own, kb["RssAnon"] + kb["RssShmem"])
            self.total = max(self.total, kb["VmHWM"])
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            self._cpu = (int(fields[11]) + int(fields[12])) / _TICKS

    def lap(self) -> dict[str, float]:
        """Return what was used since the last lap."""
        self._sample()
        with self._lock:
            cpu, wall = self._cpu, time.monotonic()
            figures = {
                "cpu": round(cpu - self._from[0], 2),
                "seconds": round(wall - self._from[1], 2),
                "own_mb": round(self.own / 1000),
                "mapped_mb": round(self.total / 1000),
            }
            self._from, self.own, self.total = (cpu, wall), 0, 0
            with suppress(OSError):
                Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # the peak begins anew
        return figures


def measure(command: list[str], note: Callable[[str, dict[str, float]], None]) -> None:
    """Run a training, and note what its stages take when they end; what an earlier run finished is not measured."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    watch = Watch(process)
    assert process.stderr is not None
    done = re.compile(rf"^({'|'.join(STAGES)}): done in")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for line in process.stderr:
            print("   ", line.rstrip(), flush=True)
            if found := done.match(line.rstrip()):
                note(found[1], watch.lap())
            elif "unchanged, kept" in line:
                watch.lap()
        code = process.wait()
    except BaseException:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    if code:
        raise SystemExit(f"ended with {code}: {' '.join(command)}")
    note(FINISH, watch.lap())


class Figures:
    """The figures of all sizes, in a file that is written as soon as there is a new one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sizes: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}

    def note(self, pairs: int, stage: str, lap: dict[str, float]) -> None:
        """Write what a stage took."""
        size = self.sizes.setdefault(str(pairs), {"pairs": pairs, "stages": {}})
        size["stages"][stage] = lap
        self.path.write_text(json.dumps(self.sizes, indent=1) + "\n")
        print(f"{stage:10} {lap['cpu']:8.1f} CPU-s {lap['own_mb']:7,} MB, {lap['mapped_mb']:7,} with files", flush=True)

    def facts(self, pairs: int, **facts: Any) -> None:
        """Write what is known of a size beside its stages."""
        self.sizes.setdefault(str(pairs), {"pairs": pairs, "stages": {}}).update(facts)
        self.path.write_text(json.dumps(self.sizes, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder with tatoeba-fr-en")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 30_000, 100_000, 300_000])
    parser.add_argument("--folder", type=Path, default=Path("scale-work"), help="where text and models go")
    parser.add_argument("--out", type=Path, default=Path("scale.json"), help="figures, one size after the other")
    parser.add_argument("--draw", type=Path, help="where pictures go: PLACE-time.svg, PLACE-memory.svg")
    parser.add_argument("--memory", default="", help="passed on to camber train")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    if not (args.data / "tatoeba-fr-en/train.fr").exists():
        parser.exit(1, f"no tatoeba-fr-en in {args.data}: give --data a folder that has it\n")
    figures = Figures(args.out)
    for size in args.sizes:
        source, target = write_text(args.data, size, args.folder)
        model = (args.folder / f"model-{size}").resolve()
        command = [
            sys.executable, "-c", "from camber.cli import main; main()", "train",
            "--source", str(source.resolve()), "--target", str(target.resolve()),
            "--source-lang", "fr", "--target-lang", "en", "--model", str(model), "--held-out", "1000",
            "--no-tune", "--threads", str(args.threads), *(["--memory", args.memory] if args.memory else []),
        ]  # fmt: skip
        print(f"{size:,} pairs", flush=True)
        measure(command, partial(figures.note, size))
        folders = {name: model / name for name in ("rules", "lm1", "memory")}
        words = sum(len(line.split()) for line in target.read_text("utf-8").splitlines())
        megabytes = {name: _megabytes(path) for name, path in folders.items()}
        figures.facts(size, memory=args.memory, words=words, megabytes=megabytes)
        figures.facts(size, opened=opened(model, args.data / "tatoeba-fr-en/test.fr"))
    if args.draw:
        draw(figures, args.draw)


def _megabytes(folder: Path) -> int:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6)


OPENING = """
import json, sys, time
from pathlib import Path
import camber
from camber.engine import Threads
import camber.model.translator, camber.model.phrase
def sizes():
    kb = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return [round(sum(int(kb[name].split()[0]) for name in names) / 1000) for names in (["RssAnon"], ["VmHWM"])]
start, cpu = time.monotonic(), time.process_time()
model = camber.load(sys.argv[1])
facts = {"open_seconds": round(time.monotonic() - start, 2), "open_cpu": round(time.process_time() - cpu, 2)}
lines = Path(sys.argv[2]).read_text("utf-8").splitlines()[:500]
cpu = time.process_time()
model.translate(lines, Threads(1))
facts["lines_per_cpu_second"] = round(len(lines) / (time.process_time() - cpu))
facts["own_mb"], facts["mapped_mb"] = sizes()
print(json.dumps(facts))
"""


def opened(model: Path, lines: Path) -> dict[str, Any]:
    """Open a model twice, each time in a process of its own, and translate with it; return the second's figures."""
    for _ in range(2):
        told = subprocess.run(
            [sys.executable, "-c", OPENING, str(model), str(lines)],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
    figures: dict[str, Any] = json.loads(told.stdout)
    print(figures, flush=True)
    return figures


# --- showing ---


#: CPU-seconds for an English word of Multi30k (29,000 pairs, 378,000 words): fast_align in both directions with
#: symmetrisation, and lmplz of order 5
ELSEWHERE = {"fast_align (elsewhere)": 7.4 / 378_000, "lmplz (elsewhere)": 0.7 / 378_000}


def draw(figures: Figures, place: Path) -> None:
    """Print tables, and draw CPU time and memory by size."""
    sizes = sorted(figures.sizes.values(), key=lambda size: size["pairs"])
    stages = list(dict.fromkeys(stage for size in sizes for stage in size["stages"]))
    for key, title in (("cpu", "CPU-seconds"), ("own_mb", "MB of memory"), ("mapped_mb", "MB with mapped files")):
        print(f"\n| {title} | " + " | ".join(f"{size['pairs']:,}" for size in sizes) + " |")
        print("|---|" + "---|" * len(sizes))
        for stage in stages:
            laps = (size["stages"].get(stage, {}).get(key) for size in sizes)
            print(f"| {stage} | " + " | ".join("" if lap is None else f"{lap:,.10g}" for lap in laps) + " |")
        if key == "cpu":
            totals = (sum(lap[key] for lap in size["stages"].values()) for size in sizes)
            print("| all | " + " | ".join(f"{total:,.0f}" for total in totals) + " |")
    for size in sizes:
        print(f"\n{size['pairs']:,} pairs: {size.get('words')} words, {size.get('megabytes')} MB, {size.get('opened')}")
    for key, unit, name in (("cpu", "CPU-seconds", "time"), ("own_mb", "MB", "memory")):
        curves = {
            stage: [(size["pairs"], size["stages"][stage][key]) for size in sizes if size["stages"].get(stage)]
            for stage in stages
        }
        if key == "cpu":
            for peer, seconds in ELSEWHERE.items():
                curves[peer] = [(size["pairs"], seconds * size["words"]) for size in sizes if size.get("words")]
        positive = {name: [point for point in curve if point[1] > 0] for name, curve in curves.items()}
        label = f"{unit} of the stages of a training by the number of pairs"
        chart = line_chart(
            {name: curve for name, curve in positive.items() if curve}, "pairs", unit, label, logarithmic=True
        )
        place.with_name(f"{place.name}-{name}.svg").write_text(chart, encoding="utf-8")


if __name__ == "__main__":
    main()
