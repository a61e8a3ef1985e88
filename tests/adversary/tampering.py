"""Change the files of a model at random, correct its checksums, and see what opening it and translating makes of it.

    python tampering.py MODEL SEED TRIALS [LINE …]

The model is changed in place and put back after every trial. Each trial is printed before it runs, so that the last
line tells which one crashed. An answer or a CamberError is what should come out; the exit code is 1 for anything else.
A trial may take a few seconds at most; a longer one ends the process.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import sys
import time
import tomllib
from pathlib import Path

import numpy as np

import camber
from camber.align.aligner import Aligner
from camber.errors import CamberError
from camber.model.directory import _SEAL, END, MANIFEST, SMALL
from camber.model.toml import write_toml
from camber.rerank.reranker import Reranker

#: seconds that one trial may take
PATIENCE = 20.0


def reseal(model: Path) -> None:
    """Make the checksums of a model those of its files."""
    manifest = tomllib.loads((model / MANIFEST).read_text("utf-8"))
    for name, facts in manifest["files"].items():
        data = (model / name).read_bytes()
        facts["bytes"], facts["sha256"] = len(data), hashlib.sha256(data).hexdigest()
        facts.pop("ends", None)
        if len(data) > SMALL:
            facts["ends"] = hashlib.sha256(data[:END] + data[-END:]).hexdigest()
    text = write_toml(manifest)
    (model / MANIFEST).write_bytes((text + _SEAL + hashlib.sha256(text.encode()).hexdigest() + "\n").encode())


def changed_array(rng: np.random.Generator, array: np.ndarray) -> tuple[np.ndarray, str]:
    """Return an array with one thing wrong with it, and what."""
    sort = rng.choice(["value", "value", "value", "swap", "shorter", "longer", "bits"])
    changed = np.array(array)
    flat = changed.reshape(-1)
    if flat.size == 0:
        return np.zeros((1, *array.shape[1:]), array.dtype), "one more row"
    place = int(rng.integers(flat.size))
    if array.dtype.names and sort in ("value", "swap"):
        name = str(rng.choice(array.dtype.names))
        flat[name][place] = odd_value(rng, array.dtype[name], flat[name])
        return changed, f"[{place}].{name} = {flat[name][place]}"
    if sort == "value":
        flat[place] = odd_value(rng, array.dtype, flat)
        return changed, f"[{place}] = {flat[place]}"
    if sort == "swap":
        other = int(rng.integers(flat.size))
        flat[[place, other]] = flat[[other, place]]
        return changed, f"[{place}] and [{other}] swapped"
    if sort == "shorter":
        return changed[:-1], "a row less"
    if sort == "longer":
        return np.concatenate((changed, changed[-1:])), "the last row twice"
    data = flat.view(np.uint8)
    place = int(rng.integers(data.size))
    data[place] ^= np.uint8(1 << int(rng.integers(8)))
    return changed, f"a bit of byte {place}"


def odd_value(rng: np.random.Generator, kind: np.dtype, values: np.ndarray) -> float | int:
    """Return a value that is hardly ever right."""
    if kind.kind == "f":
        return float(rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 3e38]))
    limits = np.iinfo(kind)
    near = [int(values.max()) + 1, int(values.max()), int(values.min()) - 1, 0, -1, limits.max, limits.min]
    near.append(int(values[int(rng.integers(values.size))]))
    return int(np.clip(int(rng.choice(np.array(near, object))), limits.min, limits.max))


def changed_bytes(rng: np.random.Generator, data: bytes) -> tuple[bytes, str]:
    """Return the bytes of a file with something wrong."""
    sort = rng.choice(["flip", "cut", "line", "twice", "number"])
    if not data or sort == "cut":
        return data[: int(rng.integers(len(data) + 1))], "cut short"
    lines = data.splitlines(keepends=True)
    place = int(rng.integers(len(lines)))
    if sort == "line":
        return b"".join(lines[:place] + lines[place + 1 :]), f"without line {place + 1}"
    if sort == "twice":
        return b"".join([*lines[: place + 1], lines[place], *lines[place + 1 :]]), f"line {place + 1} twice"
    digits = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    if sort == "number" and digits:
        at = digits[int(rng.integers(len(digits)))]
        odd = [b"-1", b"99999999", b"1e400", b"", b"nan", b"null"][int(rng.integers(6))]
        return data[:at] + odd + data[at + 1 :], f"{odd!r} for the digit at byte {at}"
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :], f"a bit of byte {at}"


def use(model: Path, lines: list[str]) -> str:
    """Open a model and use it: return what came out."""
    if tomllib.loads((model / MANIFEST).read_text("utf-8"))["kind"] == "rerank":
        Reranker.load(model)
        return "opened"
    translator = camber.load(model)
    if (model / "align" / "aligner.json").exists():
        Aligner.load(model / "align")
    for best in translator.translations(lines, nbest=3):
        translator.decoder.word_alignment(best[0].derivation)
    return "answered"


def main() -> int:
    """Run the trials."""
    model, seed, trials, lines = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    rng = np.random.default_rng(seed)
    names = sorted(tomllib.loads((model / MANIFEST).read_text("utf-8"))["files"])
    names = [name for name in names if (model / name).stat().st_size]
    manifest = (model / MANIFEST).read_bytes()
    counts = {"answered": 0, "opened": 0, "refused": 0, "stray": 0}
    use(model, lines)  # compiles
    for trial in range(trials):
        name = names[trial % len(names)]
        place = model / name
        original = place.read_bytes()
        if name.endswith(".npy") and rng.random() < 0.9:
            array, what = changed_array(rng, np.load(place))
            np.save(place, array)
        else:
            data, what = changed_bytes(rng, original)
            place.write_bytes(data)
        reseal(model)
        print(json.dumps({"trial": trial, "file": name, "change": what}), flush=True)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        start = time.perf_counter()
        try:
            outcome = use(model, lines)
        except CamberError as error:
            outcome = "refused"
            if not str(error).strip():
                outcome = "stray"
        except Exception as error:
            outcome = "stray"
            print(json.dumps({"stray": f"{type(error).__name__}: {error}"}), flush=True)
        faulthandler.cancel_dump_traceback_later()
        if time.perf_counter() - start > PATIENCE / 2:
            print(json.dumps({"slow": time.perf_counter() - start}), flush=True)
        counts[outcome] += 1
        place.write_bytes(original)
        (model / MANIFEST).write_bytes(manifest)
    print(json.dumps(counts), flush=True)
    return int(counts["stray"] > 0)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
