"""Every reader of files, with small files that it accepts: what fuzzers begin with."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tempfile
import xmlrpc.client
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from toys.echo import echo

from camber.align.error_rate import read_gold
from camber.align.pharaoh import read_pharaoh
from camber.bend.discrete import DiscreteBend
from camber.bend.mixtures.bend import MixtureBend
from camber.bend.trees.document import read_forest
from camber.confidence.calibration import Calibration
from camber.confidence.evidence import SENTENCE, WORD
from camber.corpus.vocabulary import Vocabulary
from camber.features.weights import Weights
from camber.files import read_bytes, read_lines
from camber.formats.bilingual.files import files_in
from camber.formats.bilingual.languages import Languages
from camber.formats.bilingual.unit import Tally, pair_of
from camber.formats.cdec.grammars import CdecIni, read_cdec_grammar, read_cdec_weights
from camber.formats.glossary.glossary import Glossary
from camber.formats.moses.ini import MosesIni
from camber.formats.moses.phrase_table import read_moses
from camber.formats.moses.rule_table import GLUE, read_glue, read_moses_rules
from camber.lm.ngrams import NgramModel
from camber.memory.codes import segment_in, unlike, with_codes
from camber.model.asking import read_requests
from camber.model.directory import ModelDirectory
from camber.model.journal import _SEAL, Journal
from camber.model.memory import Memory
from camber.nbest import NBest
from camber.nbest.beside import scores_beside
from camber.pipeline.convert_cdec import convert_cdec
from camber.pipeline.convert_moses import convert_moses
from camber.pipeline.settings import read_config
from camber.pipeline.translate_file import translate_data
from camber.rerank.moved import Moved
from camber.serve.calls import Call, Refusal
from camber.serve.glossaries import read_entries
from camber.serve.keys import read_keys
from camber.serve.protocols.moses import Fault, parse
from camber.text.case import Truecaser
from camber.text.pipeline import TextPipeline
from camber.text.settings import TextSettings
from camber.text.tags import FORMATS
from camber.text.tokenise import Tokenizer


@dataclass(frozen=True)
class Reader:
    """A reader, and files that it accepts."""

    read: Callable[[Path], Any]
    seeds: tuple[str | bytes, ...]
    file: str = "input"  # what the file is called, where that matters
    packed: bool = True  # whether it is accepted packed by gzip, too

    @property
    def files(self) -> list[bytes]:
        """The contents of the files that it accepts."""
        return [seed.encode() if isinstance(seed, str) else seed for seed in self.seeds]


_ARPA = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-0.5\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.6\ta\t-0.2
-1.25\tb

\\2-grams:
-0.1\t<s> a
-0.2\ta b
-0.3\tb </s>

\\end\\
"""
_INI = """[input-factors]
0
[distortion-limit]
6
[feature]
UnknownWordPenalty
PhraseDictionaryMemory name=TM num-features=4 path="phrase table" table-limit=20
KENLM name=LM0 path=lm.arpa order=2
[weight]
TM= 0.1 0.2 0.3 -4e-1
LM0= 0.7
"""
_JSONL = [
    {
        "sentence": 0, "rank": 0, "text": "a house", "score": -3.3, "features": {"lm": -4.1, "p": 0.0, "rare": None},
        "kinds": {"p": {"kind": "probability", "scope": "rule"}, "lm": {"scope": "context"}},
        "parts": [{"source": [0, 1], "target": [0, 2], "rule": 7, "features": [-4.1, 1, None]}],
        "alignment": "0-0", "source_text": "ein Haus", "extra": {"comet": 0.5},
        "confidence": 0.75, "word_confidences": [0.5, 1],
    },
    {
        "sentence": 2, "text": "", "score": 1e3, "features": {}, "parts": [], "alignment": "", "extra": {"comet": 1},
        "confidence": 1, "word_confidences": [],
    },
]  # fmt: skip
_FOREST = {
    "format": "camber trees 1",
    "features": [{"name": "lm", "kind": "number", "scope": "context", "least": -100.0, "plus": 0.0}],
    "trees": [
        {
            "name": "tree1",
            "linear in": None,
            "root": {
                "feature": "lm", "below": -3.25, "absent": "then", "gain": 12.5, "share": 1.0,
                "then": {"constant": 1.0, "share": 0.25}, "else": {"constant": -0.3, "share": 0.75},
            },
            "acted": {
                "parts": {"acted": 250, "of": 1000, "share": 0.25},
                "sentences": {"acted": 3, "of": 40, "share": 0.075, "better": 2, "worse": 1},
                "examples": [{"sentence": 17, "source": "x", "with": "y", "without": "z", "change": 4.5}],
            },
        }
    ],
}  # fmt: skip
_TEXT = {
    "settings": {"tokenizer": "moses", "lowercase": True, "source_lang": "de", "target_lang": "fr"},
    "spaces": {"?": " "},
}
_BINS = """# camber bins 1 mnr
# inputs p lm
# copied p
feature\tbin\tlow\thigh\tpopulation
p\t0\t0.25\t0.5\t12
p\t1\t0.75\t1.0\t3
"""
_MIXTURE = """# camber mixture 1
# kernels 0
# bandwidth 1.0
# mass 0.99
# most 16
# kernels see (value - centre) / scale; what is absent counts as the centre
name\tcentre\tscale
lm\t-3.5\t2.0
"""
_MOVED = (
    "# camber moved hypotheses 1\n# sentences 9\nsentence\tplace\tgain\tlm\n4\tbefore\t0.5\t-1.0\n4\tafter\t0.5\t\n"
)
_ONE = NBest.of_hypotheses((), [0, 2], ["a", "b"], [[], []])


_CONVERTED = """[cube-pruning-pop-limit]
100
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM0 num-features=4 path=TABLE table-limit=20
MORE
KENLM name=LM0 factor=0 path=lm.arpa order=2
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TM0= 0.1 0.2 0.3 0.4
LM0= 0.5
"""
_PHRASES = _CONVERTED.replace("TABLE", "phrases").replace("MORE", "Distortion") + (
    "Distortion0= 0.3\n[distortion-limit]\n6\n[stack]\n100\n[ttable-limit]\n20\n"
)
_GAPPED = _CONVERTED.replace("TABLE", "rules").replace("MORE", "PhraseDictionaryMemory name=TM1 path=glue") + (
    "TM1= 1.0\n[max-chart-span]\n20\n1000\n[search-algorithm]\n3\n"
)
_CDEC = (
    "formalism=scfg\nadd_pass_through_rules=true\nfeature_function=WordPenalty\nweights=cdec.weights\n"
    "feature_function=KLanguageModel lm.arpa\ncubepruning_pop_limit=200\nscfg_max_span_limit=12\ngrammar=grammar\n"
)
#: What the configurations name, beside them.
_BESIDE = {
    "lm.arpa": _ARPA,
    "phrases": "das ||| the ||| 0.5 0.4 3e-1 0.2 ||| 0-0 ||| 2 2 1 ||| |||\n",
    "rules": "der [X][X] mann [X] ||| the [X][X] man [X] ||| 0.5 0.4 0.3 0.2 ||| 0-0 1-1 2-2 ||| 4 5 2\n",
    "glue": "\n".join(GLUE) + "\n",
    "grammar": "[X] ||| das ||| the ||| F=0.5\n",
    "cdec.weights": "F 1\nWordPenalty -1\nLanguageModel 1\n",
}


_TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx [<!ENTITY prod "Camber"><!ENTITY more "&prod; and &prod;">]>
<tmx version="1.4"><header srclang="*all*"/><body><tu tuid="1"><prop type="x-context">menu</prop>
<tuv xml:lang="en-US"><seg>Open <bpt i="1">&lt;b></bpt><hi>&more;</hi><ept i="1">&lt;/b></ept> now<ph x="2"/></seg>
</tuv><tuv lang="FR" changeid="A"><seg>Ouvrir <ph>a <sub>titre</sub></ph></seg></tuv>
<tuv xml:lang="de"><seg>x</seg></tuv></tu>
</body></tmx>
"""
_XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="fr">
<body><group translate="no"><trans-unit id="1" translate="yes" approved="yes"><source>a <g id="1">b</g></source>
<target state="final">x <g id="1">y</g></target><alt-trans><target>z</target></alt-trans></trans-unit></group>
<trans-unit id="2"><source>One. <![CDATA[<two>]]></source><seg-source><mrk mtype="seg" mid="1">One.</mrk>
<mrk mtype="seg" mid="2">two<x id="2"/></mrk></seg-source><target><mrk mtype="seg" mid="2">deux</mrk></target>
<s:seg-defs xmlns:s="urn:s"><s:seg id="2" conf="Draft" origin="mt"/></s:seg-defs></trans-unit></body></file></xliff>
"""
_XLIFF2 = """<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="fr"><file id="f">
<unit id="u"><originalData><data id="d">&lt;b></data></originalData><segment id="s" state="initial"><source>a
<pc id="1" dataRefStart="d">b</pc><sc id="2"/><ec startRef="2"/><cp hex="0001"/></source></segment>
<ignorable><source> </source></ignorable><segment state="final"><source>c</source><target>z</target></segment>
</unit></file></xliff>
"""
_PO = r"""# note
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Language: fr\n"
"Plural-Forms: nplurals=3; plural=n%10==1 && n%100!=11 ? 0 : n%10>=2 ? 1 : 2;\n"

#: a.c:1
#, fuzzy, c-format
#| msgid "old"
msgctxt "menu"
msgid "a %d\t\"b\"\n"
msgstr "x\303\251"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] "y"

#~ msgid "gone"
#~ msgstr "z"
"""
_TBX = """<?xml version="1.0"?><!DOCTYPE martif SYSTEM "x.dtd" [<!ENTITY corp "mai">]>
<martif type="TBX"><text><body><termEntry><langSet xml:lang="en"><tig><term>home</term></tig></langSet>
<langSet xml:lang="fr-CA"><tig><term>&corp;son</term><termNote type="administrativeStatus">preferredTerm-admn-sts
</termNote></tig><ntig><termGrp><term>logis</term><termNote type="x">deprecated</termNote></termGrp></ntig></langSet>
</termEntry></body></text></martif>
"""
_TBX3 = """<tbx xmlns="urn:iso:std:iso:30042:ed-2" xmlns:b="http://www.tbxinfo.net/ns/basic"><text><body><conceptEntry>
<langSec xml:lang="en"><termSec><term>home</term></termSec></langSec><langSec xml:lang="fr"><termSec><term>x</term>
<b:administrativeStatus>forbidden</b:administrativeStatus></termSec></langSec></conceptEntry></body></text></tbx>
"""
_ADDED = "\n".join(
    json.dumps(line, ensure_ascii=False)
    for line in (
        {"format": 3, "call": 1, "pairs": 2, "lesson": False, "author": "me", "time": "now", "taken_back": 1},
        {"source": "a b", "target": "x", "tokens": "a b", "target_tokens": "x", "links": "0-0 1-0"},
        {"source": "c", "target": "y", "tokens": "c", "coded_source": "<b>c</b>", "coded_target": "<b>y</b>"},
        {"source": "a b", "target": "x"},
    )
)
_CONFIDENCE = "\n".join(
    [
        "# camber confidence 1",
        "of\tevidence\tvalue",
        "list\tscale\t0.5",
        *(
            f"{of}\t{name}\t-0.25"
            for of, names in (("word", WORD), ("sentence", SENTENCE))
            for name in ("bias", *names)
        ),
    ]
)
_PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>One</title><style>p { x: y }</style></head>
<body><h1 id=a>Head &amp; <b>bold</b></h1><p>text<br>more &nbsp;<i translate="no">x</i></p><script>1 < 2</script>
</body></html>
"""


def _units(path: Path) -> Any:
    """Read a file of two languages, as far as it can be read."""
    for file in files_in(path):
        for unit in file.units(Languages("en", "fr"), Tally()):
            pair_of(unit, unconfirmed=True)
            if unit.target is not None:
                _ = unit.target.markup


def _translated(path: Path) -> Any:
    """Translate a file in place, with a translator that gives back what it gets."""
    data = read_bytes(path)
    for everything in (False, True):
        after, _ = translate_data(echo("en", "fr", str.swapcase), data, str(path), everything=everything)
    return translate_data(echo("en", "fr"), after, str(path))


def _journal(path: Path) -> Any:
    """Read what was added to a model, whose checksum is right whatever it says."""
    folder = path.parent / "journal"
    place = folder / "added" / "00000001-00000001" / "pairs.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    body = path.read_bytes()
    if body[:2] == b"\x1f\x8b":  # no journal is packed
        body = read_bytes(path)
    place.write_bytes(body + _SEAL + hashlib.sha256(body).hexdigest().encode() + b"\n")
    journal = Journal.read(folder)
    for pair in journal.remaining:
        _ = pair[1].coded
    directory = ModelDirectory(folder, "phrase", "", "", {}, {}, {}, journal)
    return Memory.open(directory)


def _coded(path: Path) -> Any:
    """Put the inline codes of a line into what is remembered: line, source and target follow each other."""
    text = "\n".join(read_lines(path))
    for format in FORMATS:
        line, source, target = (segment_in(side, format) for side in (*text.split("\n"), "", "", "")[:3])
        unlike(line, source)
        with_codes(line, source, target, escapes=True)
    return text


def _tagged(path: Path) -> Any:
    """Prepare lines with tags and finish them again, as if their translation were the same words in another order."""
    text = TextPipeline(TextSettings())
    for line in read_lines(path):
        for format in FORMATS:
            for sentence in text.paragraph(line, format).sentences:
                count = len(sentence.tokens)
                text.finish(sentence.tokens[::-1], sentence, [(at, count - 1 - at) for at in range(count)])


def _body(path: Path) -> Any:
    """Read the body of a request as all sorts that it may be said to be."""
    types = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/xml", "")
    for type in types:
        call = Call("POST", "/translate", headers={"content-type": type}, body=read_bytes(path))
        for name in ("fields", "key", "is_json"):
            with suppress(Refusal):
                getattr(call, name)
        for read in (call.text, call.flag, partial(call.number, otherwise=1, most=9)):
            with suppress(Refusal):
                read("q")
        with suppress(Fault):
            parse(call.body)
        for format in ("csv", "tsv"):
            with suppress(Refusal):
                read_entries(call.body.decode("utf-8", "replace"), format)


def _archive(**files: str | bytes) -> bytes:
    """Return a zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name.replace("_", ".")), content)
    return packed.getvalue()


def _compiled(*, order: str = "<") -> bytes:
    """Return a file of messages as gettext's compiler writes it."""
    pairs = [
        ("", "Content-Type: text/plain; charset=UTF-8\nLanguage: fr\n"),
        ("a %d file", "x"),
        ("c\x04d\0ds", "y\0ys"),
    ]
    texts = [text.encode() for side in zip(*pairs, strict=True) for text in side]
    table, at = b"", 28 + 8 * len(texts)
    for text in texts:
        table += struct.pack(f"{order}2I", len(text), at)
        at += len(text) + 1
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    return head + table + b"".join(text + b"\0" for text in texts)


def _converted(convert: Callable[[Path, Path], None]) -> Callable[[Path], Any]:
    """Convert a model of others whose configuration is read; nothing remains."""

    def convert_it(path: Path) -> None:
        for name, text in _BESIDE.items():
            if not (path.parent / name).exists():
                (path.parent / name).write_text(text)
        with tempfile.TemporaryDirectory() as folder:
            convert(path, Path(folder) / "model")

    return convert_it


def _round_trip(path: Path) -> Any:
    """Tokenise, case and detokenise a text, in the languages that have rules of their own."""
    lines = read_lines(path)
    for language in ("en", "fr", "fi", "de", "zh"):
        tokenizer = Tokenizer("moses", language)
        tokens = [tokenizer.tokenise(line) for line in lines]
        caser = Truecaser.learn(tokens)
        for sentence in tokens:
            tokenizer.detokenise(caser.apply(sentence))
    return lines


READERS: dict[str, Reader] = {
    "text": Reader(
        _round_trip,
        (
            "Isn't it 5,300 m?\n“NO!” he said: l’eau, EU:ssa ...\n",
            "www.example.org/a?b=(c) x.y+z@mail.example.org &amp; &#124; (“'a”) 2:30 e.g. U.S.A.\n",
        ),
    ),
    "arpa": Reader(NgramModel.read, (_ARPA, _ARPA.replace("\n", "\r\n"))),
    "cdec grammar": Reader(
        read_cdec_grammar,
        ("[X] ||| [X,1] ein [X,2] ||| a [X,1] [X,2] ||| F=0.88 CountEF=1.6 ||| 1-0\n[X] ||| b ||| c ||| G=-1e3\n",),
    ),
    "cdec weights": Reader(read_cdec_weights, ("# a comment\nLM 0.5\nWordPenalty -1e-3\n",)),
    "cdec.ini": Reader(CdecIni.read, ("formalism=scfg\nfeature_function = WordPenalty # x\nscfg_max_span_limit=10\n",)),
    "moses.ini": Reader(MosesIni.read, (_INI,)),
    "moses.ini, converted": Reader(_converted(convert_moses), (_PHRASES, _GAPPED)),
    "cdec.ini, converted": Reader(_converted(convert_cdec), (_CDEC,)),
    "phrase table": Reader(
        read_moses,
        (
            "das ||| the ||| 0.5 0.4 3e-1 0.2 ||| 0-0 ||| 2 2 1 ||| |||\n"
            "das haus ||| the house ||| 1 1 1 1 ||| 0-0 1-1 ||| 9 9\n",
            "a ||| b ||| 0.5 0.4 0.3 0.2\n",
        ),
    ),
    "rule table": Reader(
        read_moses_rules,
        ("der [X][X] mann [X] ||| the [X][X] man [X] ||| 0.5 0.4 0.3 0.2 ||| 0-0 1-1 2-2 ||| 4 5 2\n",),
    ),
    "glue grammar": Reader(read_glue, ("\n".join(GLUE) + "\n",)),
    "pharaoh": Reader(read_pharaoh, ("0-0 1-2\n\n3-1\t2-2\n", "999999999-0")),
    "gold": Reader(read_gold, ("0-0 1p2 3?1\n\n", "1 1 2 S\n1 2 2 P 0.5\n0002 0 1\n")),
    "weights": Reader(Weights.read, ("# camber weights 1\n# signature x|y\nname\tweight\nlm\t0.5\np\t-1e-5\n",)),
    "bins": Reader(DiscreteBend.read, (_BINS,)),
    "trees": Reader(read_forest, (json.dumps(_FOREST),)),
    "kernels": Reader(MixtureBend.read, (_MIXTURE,)),
    "vocabulary": Reader(Vocabulary.load, ("<unk>\n<s>\n</s>\na\nb\n",)),
    "moved": Reader(lambda path: Moved.read(path, ("lm",)), (_MOVED,)),
    "truecaser": Reader(Truecaser.load, ("paris\tParis\t7\nthe\tTHE\t2\tthe\t11\n",)),
    "text.json": Reader(lambda path: TextPipeline.load(path.parent), (json.dumps(_TEXT),), "text.json"),
    "settings": Reader(
        read_config, ('[lm]\norder = 4\nprune = "0 1"\n[decode]\npop_limit = 100\n[tune]\nnbest = 30\n',)
    ),
    "n-best moses": Reader(
        lambda path: NBest.read(path, "moses"),
        (
            "0 ||| a house ||| LM0= -4.1 TM0= -1.2 -0.5 ||| -3.3 ||| 0=0-1 ||| 0-0 0-1\n"
            "2 ||| ||| LM0= 1 TM0= 2 3 ||| 1e2\n",
            "0 ||| a ||| lm=-1 w=2\n0 ||| b ||| rare=-1\n",
        ),
    ),
    "n-best fairseq": Reader(
        lambda path: NBest.read(path, "fairseq"),
        ("S-3\tein Haus\nT-3\ta house\nH-3\t-0.31\ta hou@@ se\nD-3\t-0.31\ta house\nP-3\t-0.2 -0.1\nA-3\t0-0\n",),
    ),
    "n-best jsonl": Reader(
        lambda path: NBest.read(path, "jsonl"), ("".join(json.dumps(item) + "\n" for item in _JSONL),)
    ),
    "n-best tsv": Reader(
        lambda path: NBest.read(path, "tsv"),
        ("sentence\ttext\tscore\tlm\textra:comet\n0\ta house\t-3.3\t-4.1\t0.81\n7\thouse\t-5.0\t\t0.62\n",),
    ),
    "n-best flat": Reader(lambda path: NBest.read(path, "flat", candidates=2), ("a house\nthe house\n\nx\n",)),
    "n-best of any format": Reader(NBest.read, ("0 ||| a ||| x= 1\n", "H-0\t-1\ta\n", '{"sentence":0,"text":"a"}\n')),
    "translation memory": Reader(_units, (_TMX, _TMX.replace("\n", "\r\n"))),
    "XLIFF": Reader(_units, (_XLIFF, _XLIFF2)),
    "messages": Reader(_units, (_PO, _PO.replace("\n", "\r\n"))),
    "table of pairs": Reader(
        _units,
        ("source\ttarget\tstatus\na\tx\tdraft\n", 'en,fr\n"a, b",x\n"c\nd","y ""z"""\n', "a\tx\n\nb\ty\n"),
        "table.csv",
    ),
    "memory, translated": Reader(_translated, (_TMX,)),
    "XLIFF, translated": Reader(_translated, (_XLIFF, _XLIFF2)),
    "messages, translated": Reader(_translated, (_PO,)),
    "page, translated": Reader(_translated, (_PAGE,)),
    "compiled messages": Reader(_units, (_compiled(), _compiled(order=">"))),
    "archive": Reader(
        _units, (_archive(a_tmx=_TMX, b_po=_PO), _archive(c_mo=_compiled(), d_xlf=_XLIFF)), "a.zip", False
    ),
    "glossary": Reader(
        lambda path: Glossary.read(path, "en", "fr"),
        (
            "source,target,target2,status,sl,tl\nhome,maison,,preferred,en,fr\nCamber,,,dnt,en,fr\n",
            "home\tmaison\tlogis\nx\ty\n",
            "Camber\nx y\n",
            'home;"mai""son"\nx;y\n',
            "home,maison,en,fr,n\n",
            _TBX,
            _TBX3,
        ),
    ),
    "constraints": Reader(
        read_requests,
        (
            '{"terms": {"maison": "home", "bleu": ["blue", "azure"], "Camber": null}, "prefix": "The"}\n\n'
            '{"forbidden": {"Haus": ["building"]}}\n',
        ),
    ),
    "added pairs": Reader(_journal, (_ADDED,)),
    "inline codes": Reader(
        _coded,
        ('Press <g id="7">Save</g> &amp; go\nPress <bpt i="1"/>Save<ept i="1"/> &amp; go\n<ph/> <bpt i="1"/>x\n',),
    ),
    "tagged text": Reader(
        _tagged,
        ('<p>Read <b>the <i class="x>">guide</i></b> at www.example.org &nbsp;.</p><br/> 3 < 4 &lt;x> <x id="1"/>\n',),
    ),
    "confidence": Reader(Calibration.read, (_CONFIDENCE,)),
    "keys": Reader(read_keys, (f"# all\ncaddy {'0f' * 32}\nalice {'1a' * 32} translate,learn\n",)),
    "request": Reader(
        _body,
        (
            '{"q": ["a", "b"], "source": "fr", "alternatives": 2, "api_key": null}',
            "q=a%20b&q=c&source=fr&key=x",
            '--x\r\nContent-Disposition: form-data; name="q"\r\n\r\nBonjour\r\n--x--',
            xmlrpc.client.dumps(({"text": "a", "align": True, "n": 1.5},), "translate"),
            "home,maison,en,fr\nx,y\n",
        ),
    ),
    "scores": Reader(lambda path: scores_beside(_ONE, "comet", path), ("0.5\n-1e3\n",)),
}

#: What attackers and damaged disks put in the place of something else.
TOKENS: tuple[bytes, ...] = (
    b"9" * 5000, b"-" + b"9" * 5000, b"1e999", b"-1e999", b"nan", b"inf", b"1e-400", b"0." + b"3" * 5000, b"99999999",
    b"2147483648", b"9223372036854775808", b"4294967296", b"-1", b"0", b"256", b"300", b"\xff", b"\xc3", b"\x00",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\r", b"\r\n", b"\n", b"\t", b" ", b"\xc2\xa0", b"\xe2\x80\xa8",
    b" ||| ", b"|||", b"=", b'"', b"'", b"[", b"]", b"{", b"}", b"[" * 3000, b'{"a":' * 3000, b"#", b"\\", b"null",
    b"true", b"NaN", b"Infinity", b"1" * 40, b"\xd9\xa3", b"a" * 5000, b"@" * 500, b"a@" * 500, b"www." * 300,
    b"&#1" * 500, b"-" * 500, b"'s " * 300, b"\x1f\x8b", b"<s>", b"</s>", b"<unk>", b"[X,1]", b"[X][X]", b"\\data\\",
)  # fmt: skip
