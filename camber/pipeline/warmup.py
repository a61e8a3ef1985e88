"""Compile every kernel ahead of time, by using each once on a tiny corpus."""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from camber.align.lexical import lexical_table
from camber.align.pharaoh import read_pharaoh, write_pharaoh
from camber.align.words import AlignSettings, align_corpus
from camber.corpus import Bitext
from camber.corpus.hotel import generate
from camber.decode.features import feature_names, untuned_weights
from camber.decode.lists import to_nbest
from camber.kernel import cache_folder
from camber.lm.arpa import read_arpa, write_arpa
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.metrics.bleu import BLEU
from camber.model.translator import Translator
from camber.model.weights import Weights
from camber.progress import log
from camber.rules.extraction import RuleSettings, extract
from camber.rules.moses_writing import write_moses
from camber.text.pipeline import TextPipeline, TextSettings


def warm_up() -> None:
    """Run every stage on a few sentence pairs; the compiled code stays in the cache folder."""
    start = time.monotonic()
    source, target = generate(train=40, dev=1, test=1).train
    bitext = Bitext.encode([line.split() for line in source], [line.split() for line in target])
    for model in ("quick", "best"):
        alignment = align_corpus(bitext, AlignSettings(model=model), threads=1)
    lexical_table(bitext, alignment)
    store = extract(bitext, alignment, RuleSettings(significance="alpha+epsilon"), threads=1)
    trie = estimate(bitext.target, LmSettings(order=3))
    language = NgramModel.from_trie(trie)
    language.score(bitext.target)
    weights = untuned_weights(1)
    translator = Translator(
        TextPipeline(TextSettings(tokenizer="none")),
        store,
        [language],
        Weights({name: weights[name] for name in feature_names(1)}),
    )
    found = list(translator.translations(source[:2], nbest=3, threads=1))
    to_nbest(translator.decoder, [[item.derivation for item in best] for best in found])
    BLEU(tokenize="none").statistics([best[0].text for best in found], [target[:2]])
    with TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        write_moses(store, folder)
        write_arpa(Path(folder) / "lm.arpa", trie)
        read_arpa(Path(folder) / "lm.arpa")
        write_pharaoh(Path(folder) / "links", alignment)
        read_pharaoh(Path(folder) / "links")
    log.info("the kernels are compiled, in %s (%.1f s)", cache_folder(), time.monotonic() - start)
