"""Change the files of a model at random, correct its checksums, and see what using it makes of that.

    python tampering.py MODEL SEED TRIALS [LINE …]

The model is changed in place and put back after every trial. Each trial runs in a fork, so that nothing is imported or
compiled again and that a crash or a hang ends one trial only. An answer or a CamberError is what should come out. Every
other trial is printed as it ends, and the counts of all outcomes at the end; the exit code is 1 if any trial was bad.

Kernels do not check bounds, so reading a little beside an array mostly goes unnoticed. With NUMBA_BOUNDSCHECK=1 and a
CAMBER_CACHE of its own it does not: an index out of range is a stray exception then.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import json
import logging
import os
import resource
import select
import signal
import sys
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import camber
from camber.align.aligner import Aligner
from camber.align.words import align_added
from camber.corpus.bitext import Bitext
from camber.errors import CamberError
from camber.formats.glossary.glossary import Glossary
from camber.model.directory import _SEAL, END, MANIFEST, SMALL, ModelDirectory
from camber.model.journal import _SEAL as CALL_SEAL
from camber.model.regression import ModelRegression
from camber.model.toml import write_toml
from camber.model.translator import Translator
from camber.nbest import NBest
from camber.rerank.regression import regression_features
from camber.rerank.reranker import Reranker
from camber.text.tags import XLIFF

#: CPU seconds that one trial may take before it counts as a hang, and seconds of a busy machine
CPU, PATIENCE = 20, 600.0
#: bytes that a trial may have beyond what the process had before; a few small models take far less
MEMORY = 2 << 30

ANSWERED, REFUSED = "answered", "refused"
BAD = ("stray", "crashed", "hung", "greedy")

Rng = np.random.Generator


def reseal(model: Path) -> None:
    """Make the checksums of a model those of its files, and of the members that it has first."""
    for member in model.glob("members/*/"):
        reseal_outside(member)
    reseal_outside(model)


def reseal_outside(model: Path) -> None:
    """Make the checksums of a model those of its files, whatever its members say."""
    manifest = tomllib.loads((model / MANIFEST).read_text("utf-8"))
    for name, facts in manifest["files"].items():
        data = (model / name).read_bytes()
        facts["bytes"], facts["sha256"] = len(data), hashlib.sha256(data).hexdigest()
        facts.pop("ends", None)
        if len(data) > SMALL:
            facts["ends"] = hashlib.sha256(data[:END] + data[-END:]).hexdigest()
    write_manifest(model, manifest)


def write_manifest(model: Path, manifest: dict[str, Any]) -> None:
    """Write `model.toml` with the seal that it would have."""
    text = write_toml(manifest)
    (model / MANIFEST).write_bytes((text + _SEAL + hashlib.sha256(text.encode()).hexdigest() + "\n").encode())


# --- changes ---------------------------------------------------------------------------------------------------------


def changed_array(rng: Rng, array: np.ndarray) -> tuple[np.ndarray, str]:
    """Return an array with one thing wrong with it, and what."""
    flat = np.array(array).reshape(-1)
    if flat.size == 0:
        return np.zeros((1, *array.shape[1:]), array.dtype), "one more row"
    way = rng.choice(["value", "value", "values", "swap", "shuffled", "reversed", "equal", "rows", "type", "bits"])
    if way in ("rows", "type"):
        return _of_another_form(rng, np.array(array))
    if way == "bits":
        data = flat.view(np.uint8)
        places = rng.integers(data.size, size=int(rng.choice([1, 20])))
        data[places] ^= np.uint8(1 << int(rng.integers(8)))
        return flat.reshape(array.shape), f"bits of bytes {places.tolist()[:3]}"
    field = str(rng.choice(array.dtype.names)) if array.dtype.names else ""
    what = _change(rng, flat[field] if field else flat, str(way))
    return flat.reshape(array.shape), f"{field} {what}".strip()


def _change(rng: Rng, flat: np.ndarray, way: str) -> str:
    """Change values of an array where they stand."""
    place = int(rng.integers(flat.size))
    if way == "value":
        flat[place] = odd_value(rng, flat)
        return f"[{place}] = {flat[place]}"
    if way == "values":  # all of them in range
        places = rng.integers(flat.size, size=max(1, flat.size // 20))
        flat[places] = flat[rng.integers(flat.size, size=len(places))]
        return f"{len(places)} values are those of other places"
    if way == "swap":
        other = int(rng.integers(flat.size))
        flat[[place, other]] = flat[[other, place]]
        return f"[{place}] and [{other}] swapped"
    if way == "shuffled":
        flat[:] = rng.permutation(flat)
    elif way == "reversed":
        flat[:] = flat[::-1].copy()
    else:
        flat[:] = flat[place]
    return way


def _of_another_form(rng: Rng, array: np.ndarray) -> tuple[np.ndarray, str]:
    forms: list[tuple[str, Callable[[], np.ndarray]]] = [
        ("a row less", lambda: array[:-1]),
        ("the last row twice", lambda: np.concatenate((array, array[-1:]))),
        ("no rows", lambda: array[:0]),
        ("one dimension more", lambda: array[..., None]),
        ("a scalar", lambda: array.reshape(-1)[0]),
        ("columns for rows", lambda: array.T),
        ("another byte order", lambda: array.astype(array.dtype.newbyteorder())),
        ("texts", lambda: np.full(array.shape, "x")),
        ("stored by columns", lambda: np.asfortranarray(array)),
    ]
    if array.ndim > 1:
        forms.append(("a column less", lambda: array[:, :-1]))
    what, make = forms[int(rng.integers(len(forms)))]
    return make(), what


def odd_value(rng: Rng, values: np.ndarray) -> float | int:
    """Return a value that is hardly ever right."""
    kind = values.dtype
    if kind.kind == "f":
        return float(rng.choice([np.nan, np.inf, -np.inf, -1.0, 0.0, 1e30, float(values.max())]))
    limits = np.iinfo(kind)
    near = [int(values.max()) + 1, int(values.max()), int(values.min()) - 1, 0, -1, limits.max, limits.min]
    near.append(int(values[int(rng.integers(values.size))]))
    return int(np.clip(int(rng.choice(np.array(near, object))), limits.min, limits.max))


def changed_bytes(rng: Rng, data: bytes) -> tuple[bytes, str]:
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
        odd = [b"-1", b"99999999", b"1e400", b"", b"nan", b"null", b"9" * 5000][int(rng.integers(7))]
        return data[:at] + odd + data[at + 1 :], f"{odd[:10]!r} for the digit at byte {at}"
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :], f"a bit of byte {at}"


def changed_value(rng: Rng, value: Any) -> tuple[Any, str]:
    """Return plain values, as JSON and TOML have them, of which one is gone or is something else."""
    way: list[str | int] = []
    holder, inside = None, value
    while isinstance(inside, dict | list) and inside and (holder is None or rng.random() < 0.9):
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        key = keys[int(rng.integers(len(keys)))]
        holder, inside = inside, inside[key]
        way.append(key)
    path = "/".join(map(str, way))[-60:]
    if holder is None:
        return [], "nothing left"
    if rng.random() < 0.25:
        del holder[way[-1]]
        return value, f"no {path}"
    odd = [-1, 0, 1, 3.5, 1e300, 2**40, 10**30, "x", "", "-1", True, [], {}, ["x"], [1, 2], {"x": 1}, [[[]]]]
    holder[way[-1]] = odd[int(rng.integers(len(odd)))]
    return value, f"{path} = {holder[way[-1]]!r}"


def changed_json(rng: Rng, data: bytes) -> tuple[bytes, str]:
    """Change one value of a JSON document."""
    value, what = changed_value(rng, json.loads(data))
    return json.dumps(value, ensure_ascii=False).encode(), what


def changed_journal(rng: Rng, data: bytes) -> tuple[bytes, str]:
    """Change a line of a file of the journal, and correct its checksums."""
    bodies = [part.split(b"\n", 1)[-1] if number else part for number, part in enumerate(data.split(CALL_SEAL))][:-1]
    place = int(rng.integers(len(bodies)))
    lines = bodies[place].split(b"\n")
    line = int(rng.integers(len(lines)))
    if rng.random() < 0.8:
        lines[line], what = changed_json(rng, lines[line])
    elif rng.random() < 0.5:
        del lines[line]
        what = "a line less"
    else:
        lines[line], what = b"[" * 100_000, "brackets without end"
    bodies[place] = b"\n".join(lines)
    return b"".join(body + CALL_SEAL + hashlib.sha256(body).hexdigest().encode() + b"\n" for body in bodies), what


def tamper(rng: Rng, model: Path, name: str) -> str:
    """Change a file of a model and correct all checksums; return what was changed."""
    place = model / name
    original = place.read_bytes()
    if place.name == MANIFEST:
        manifest = tomllib.loads(original.decode())
        for table in ("files",):  # what follows from the files is not interesting
            if rng.random() < 0.9:
                kept = manifest.pop(table)
                manifest, what = changed_value(rng, manifest)
                manifest[table] = kept
            else:
                manifest, what = changed_value(rng, manifest)
        write_manifest(place.parent, manifest)
        if place.parent != model:
            reseal_outside(model)
        return what
    data, what = original, ""
    if place.parent.parent.name == "added" and name.endswith((".jsonl", ".json")):
        data, what = changed_journal(rng, original)
    elif name.endswith(".npy") and rng.random() < 0.9:
        array, what = changed_array(rng, np.load(place))
        np.save(place, array)
        data = place.read_bytes()
    elif name.endswith(".json") and rng.random() < 0.7:
        data, what = changed_json(rng, original)
    else:
        data, what = changed_bytes(rng, original)
    place.write_bytes(data)
    reseal(model)
    return what


# --- use -------------------------------------------------------------------------------------------------------------


def use(model: Path, lines: list[str]) -> None:
    """Open a model and do with it what its users do."""
    directory = ModelDirectory.open(model)
    if directory.kind == "rerank":
        from adversary.zoo import reranked

        Reranker.load(model).rerank(reranked(model.name)[0])
        return
    translator = camber.load(model)
    for best in translator.translations(lines, nbest=3, confidence=True):
        with contextlib.suppress(AttributeError):  # regressions know no alignment
            translator.decoder.word_alignment(best[0].derivation)
    if "prefix" in translator.decoder.takes:
        translator.translate(lines[:1], prefix="the")
    if "terms" in translator.decoder.takes:
        words = [word for line in lines for word in line.split() if word.isalpha()]
        terms = Glossary.of({words[1]: ["a term"], words[-1]: None})
        translator.translate([" ".join(4 * words)], glossary=terms)  # longer than a window
    if translator.memory is not None:
        remember(translator, lines)
    if next(model.glob("*/pairs"), None) is not None:
        regression_of(model, lines)
    if (model / "align" / "aligner.json").exists():
        aligner = Aligner.load(model / "align").after(directory.journal.lessons())
        pairs = [line.split() for line in lines]
        align_added(aligner, Bitext.encode(pairs, [pair[::-1] for pair in pairs]))


def remember(translator: Translator, lines: list[str]) -> None:
    """Look for what is remembered, with and without inline codes, and translate by it."""
    coded = [f'<g id="1">{first}</g> {rest}' for first, _, rest in (line.partition(" ") for line in lines)]
    for line in lines:
        translator.matches(line, 0.4)
    for line in coded:
        translator.matches(line, 0.4, format=XLIFF)
    threshold = 0.5 if "walls" in translator.decoder.takes else 1.0
    translator.translate([*coded, *translator.memory.source[:1]], format=XLIFF, fuzzy=threshold)
    if translator.memory.trained is not None:
        translator.memory.trained.check()


def regression_of(model: Path, lines: list[str]) -> None:
    """Score translations by the regression of a model, as a re-ranker does."""
    opened = ModelRegression.open(model)
    nbest = NBest.of_hypotheses((), np.arange(len(lines) + 1) * 2, ["see you", "the director"] * len(lines), ())
    regression_features(nbest, opened, lines)


def forked(action: Callable[[], None]) -> tuple[str, str, int]:
    """Run an action in a fork; return its outcome, what it said, and by how many bytes it grew."""
    reading, writing = os.pipe()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = os.fork()
    if child == 0:
        os.close(reading)
        outcome, told = ANSWERED, ""
        try:
            limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
            action()
        except CamberError as error:
            outcome, told = (REFUSED, str(error)) if str(error).strip() else ("stray", "an error without a message")
        except MemoryError as error:
            outcome, told = "greedy", repr(error)
        except BaseException as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            outcome, told = "stray", f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
        os.write(writing, json.dumps([outcome, told[:300]]).encode())
        os._exit(0)
    os.close(writing)
    ready = select.select([reading], [], [], PATIENCE)[0]
    said = os.read(reading, 65536) if ready else b""
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    grown = max(0, usage.ru_maxrss - before) << 10
    if not ready or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return "hung", f"no answer in {CPU} CPU seconds", grown
    if not said:
        return "crashed", f"status {status}", grown
    outcome, told = json.loads(said)
    return outcome, told, grown


def files_of(model: Path) -> list[str]:
    """List the files of a model that can be changed: all that are not empty, the journal and `model.toml` included."""
    names = (path.relative_to(model).as_posix() for path in model.rglob("*") if path.is_file())
    return sorted(name for name in names if (model / name).stat().st_size)


def main() -> int:
    """Run the trials."""
    model, seed, trials, lines = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    logging.disable(logging.CRITICAL)
    rng = np.random.default_rng(seed)
    names = files_of(model)
    counts: Counter[str] = Counter(dict.fromkeys((ANSWERED, REFUSED, *BAD), 0))
    use(model, lines)  # compiles
    most, slowest = 0, 0.0
    for trial in range(trials):
        name = names[trial % len(names)]
        originals = {place: place.read_bytes() for place in (model / name, *model.rglob(MANIFEST))}
        what = tamper(rng, model, name)
        start = time.perf_counter()
        outcome, told, grown = forked(lambda: use(model, lines))
        slowest, most = max(slowest, time.perf_counter() - start), max(most, grown)
        for place, data in originals.items():
            place.write_bytes(data)
        counts[outcome] += 1
        if outcome in BAD or os.environ.get("CAMBER_TELL"):
            print(json.dumps({"trial": trial, "file": name, "change": what, outcome: told}), flush=True)
    facts = {**counts, "files": len(names), "slowest": round(slowest, 2), "grown": most}
    print(json.dumps(facts), flush=True)
    return int(any(counts[outcome] for outcome in BAD))


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
