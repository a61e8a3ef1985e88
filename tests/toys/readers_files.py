"""What a reader of a page is taken to have: small files under the names that the page uses."""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from camber.corpus.hotel import HotelCorpus, Pairs, generate
from camber.engine import Threads
from camber.files import write_lines
from camber.pipeline.settings import TrainSettings
from camber.pipeline.train import train

_CANDIDATES = 20


def prepare(page: str, folder: Path) -> dict[str, Any]:
    """Put the files into a folder that the page of this name takes for granted, and return such names of Python's."""
    return _TAKEN_FOR_GRANTED[page](folder) if page in _TAKEN_FOR_GRANTED else {}


def _readme(folder: Path) -> dict[str, Any]:
    corpus = generate(train=150, dev=40, test=20, seed=3)
    for source, target in (("de", "en"), ("en", "fr"), ("fr", "en")):
        for name in ("train", "dev", "test"):
            _sides(folder, getattr(corpus, name), name, source, target)
    _sides(folder, Pairs(["Gute Nacht!"], ["Good night!"]), "new", "de", "en")
    _sides(folder, Pairs(["Bonne nuit."], ["Good night."]), "new", "fr", "en")
    write_lines(folder / "mono.fr", corpus.train.target)
    write_memory(folder / "memory.tmx", corpus.train, "de", "en")
    write_memory(folder / "memory.fr.tmx", corpus.train, "fr", "en")
    write_xliff(folder / "manual.xliff", corpus.test.source[:4], "de", "en")
    write_xliff(folder / "confirmed.xliff", ["Guten Morgen!"], "de", "en", ["Good morning!"])
    (folder / "terms.csv").write_text("source,target\nseñor,gentleman\n", "utf-8")
    (folder / "terms.tbx").write_text(_TBX, "utf-8")
    (folder / "requests.jsonl").write_text('{"prefix": "The"}\n' * len(corpus.test.source), "utf-8")
    _lists(folder, corpus)
    for name, source, target in (("a", "de", ""), ("b", "fr", "en")):
        texts = {"text": {"source_lang": source if target else "", "target_lang": target}}
        train(folder / f"train.{source}", folder / "train.en", folder / "models" / name, tuned=False, engine=Threads(1),
              settings=TrainSettings.from_dict(texts))  # fmt: skip
    for method in ("phrase", "hiero"):
        train(folder / "train.de", folder / "train.en", folder / f"{method}-model", method=method, engine=Threads(1))
    return {"lines": corpus.test.source}


def _sides(folder: Path, pairs: Pairs, name: str, source: str, target: str) -> None:
    write_lines(folder / f"{name}.{source}", pairs.source)
    write_lines(folder / f"{name}.{target}", pairs.target)


def write_memory(path: Path, pairs: Pairs, source: str, target: str) -> None:
    """Write a translation memory of sentence pairs."""
    units = "".join(
        f'<tu><tuv xml:lang="{source}"><seg>{escape(one)}</seg></tuv>'
        f'<tuv xml:lang="{target}"><seg>{escape(other)}</seg></tuv></tu>\n'
        for one, other in zip(*pairs, strict=True)
    )
    header = f'<header srclang="{source}" segtype="sentence" datatype="plaintext"/>'
    path.write_text(f'<?xml version="1.0"?>\n<tmx version="1.4">{header}<body>\n{units}</body></tmx>\n', "utf-8")


def write_xliff(path: Path, lines: list[str], source: str, target: str, translations: list[str] | None = None) -> None:
    """Write a file to translate; with translations, one that is translated."""
    units = "".join(
        f'<trans-unit id="{k}" approved="{"yes" if translations else "no"}"><source>{escape(line)}</source>'
        + (f'<target state="final">{escape(translations[k])}</target>' if translations else "")
        + "</trans-unit>\n"
        for k, line in enumerate(lines)
    )
    path.write_text(
        '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        f'<file original="a" datatype="plaintext" source-language="{source}" target-language="{target}"><body>\n{units}'
        "</body></file></xliff>\n",
        "utf-8",
    )


def _lists(folder: Path, corpus: HotelCorpus) -> None:
    """Write lists of an engine into French, of which the right candidate has the better features as a rule."""
    draw = random.Random(1)
    for name, pairs in (("dev", corpus.dev), ("test", corpus.test)):
        rows, texts, numbers = [], [], []
        for sentence, right in enumerate(pairs.source):
            for _ in range(_CANDIDATES):
                words = right.split()
                mistakes = draw.randrange(4)
                for _ in range(mistakes):
                    words[draw.randrange(len(words))] = draw.choice(words)
                logprob, adequacy = -mistakes + draw.gauss(0, 2), -2 * mistakes + draw.gauss(0, 1)
                text = " ".join(words)
                rows.append(
                    f"{sentence} ||| {text} ||| logprob= {logprob:.3f} adequacy= {adequacy:.3f} ||| {logprob:.3f}"
                )
                texts.append(text)
                numbers.append(f"{logprob:.3f}")
        for ending, lines in (("nbest", rows), ("txt", texts), ("logprob", numbers)):
            write_lines(folder / f"{name}.{ending}", lines)
        write_lines(folder / f"{name}.fr", pairs.source)


_TBX = """<?xml version="1.0"?>
<martif type="TBX" xml:lang="de"><text><body><termEntry id="1">
<langSet xml:lang="de"><tig><term>Haus</term></tig></langSet>
<langSet xml:lang="en"><tig><term>home</term></tig></langSet>
</termEntry></body></text></martif>
"""


def _memory(folder: Path) -> dict[str, Any]:
    corpus = generate(train=150, dev=40, test=20, seed=3)
    write_memory(folder / "memory.tmx", corpus.train, "es", "en")
    write_xliff(folder / "manual.xliff", corpus.test.source[:4], "es", "en")
    write_xliff(folder / "confirmed.xliff", ["Buenos días."], "es", "en", ["Good morning."])
    write_lines(folder / "new.es", [corpus.train.source[0], *corpus.test.source[:2]])
    return {}


def _list(folder: Path) -> dict[str, Any]:
    corpus = generate(train=100, dev=40, test=20, seed=3)
    write_lines(folder / "mono.fr", corpus.train.source)
    _lists(folder, corpus)
    return {}


def _texts(folder: Path) -> dict[str, Any]:
    corpus = generate(train=150, dev=40, test=20, seed=3)
    for name in ("train", "dev", "test"):
        _sides(folder, getattr(corpus, name), name, "de", "en")
    return {}


def _texts_and_model(folder: Path) -> dict[str, Any]:
    """Put texts there, lists, and a small model, which is trained once for all pages."""
    _texts(folder)
    _lists(folder, generate(train=1, dev=40, test=20, seed=3))
    shutil.copytree(_trained(), folder / "my-model")
    return {}


@cache
def _trained() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="camber-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _texts(folder)
    settings = TrainSettings.from_dict({"text": {"source_lang": "de", "target_lang": "en"}})
    train(
        folder / "train.de", folder / "train.en", folder / "my-model", settings=settings, tuned=False, engine=Threads(1)
    )
    return folder / "my-model"


def _served(folder: Path) -> dict[str, Any]:
    write_memory(folder / "memory.tmx", generate(train=200, dev=1, test=1, seed=3).train, "fr", "en")
    shutil.copytree(_trained(), folder / "my-model")
    return {}


#: page → what its reader has
_TAKEN_FOR_GRANTED: dict[str, Callable[[Path], dict[str, Any]]] = {
    "README.md": _readme,
    "translator.md": _memory,
    "engineer.md": _list,
    "researcher.md": _texts,
    "serving.md": _served,
    **dict.fromkeys(
        [
            "formats.md",
            "tools.md",
            "progress.md",
            "clark2014.md",
            "toutanova2013.md",
            "nguyen2007.md",
            "wang2007.md",
            "bicici.md",
        ],
        _texts_and_model,
    ),
}
