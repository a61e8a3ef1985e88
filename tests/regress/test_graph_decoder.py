"""The graph decoder: what it does where n-grams repeat, do not connect, or know nothing; and that it can be tuned."""

from itertools import pairwise

import numpy as np
import pytest
from toys.models import ngram_model_of, random_ngrams
from toys.predictions import WrittenGrams

from camber.bend.settings import BendSettings
from camber.corpus import Sentences
from camber.corpus.inputs import as_inputs
from camber.decode.derivation import parts_of
from camber.decode.lists import to_nbest
from camber.engine import Threads
from camber.errors import CamberError
from camber.lm.kneser_ney import LmSettings, estimate
from camber.lm.ngrams import NgramModel
from camber.nbest.nbest import NBest
from camber.regress.graph_decoder import GraphDecoder
from camber.regress.graph_settings import GraphSettings, untuned_weights
from camber.tune.bending import bent_decoder
from camber.tune.course import tune
from camber.tune.dev_set import DevSet
from camber.tune.loop import TuneSettings

GLUE, REPEATS, COPIED, UNCONNECTED = "glue", "repeats", "copied", 2


def bigrams_of(*sentences, count=1.0):
    """Return the bigrams of sentences with marks, each expected as often as it stands there."""
    grams = {}
    for sentence in sentences:
        words = ["<s>", *sentence.split(), "</s>"]
        for pair in pairwise(words):
            grams[pair] = grams.get(pair, 0.0) + count
    return grams


def decoder_of(grams, weights=None, models=(), **settings):
    source = WrittenGrams({tuple(text.split()): some for text, some in grams.items()}, (2,))
    everything = {**untuned_weights(len(models), (2,)), **(weights or {})}
    return GraphDecoder(source, models, everything, GraphSettings(**settings))


def translate(decoder, text, nbest=1):
    work = np.zeros(len(decoder.WORK), np.int64)
    (best,) = decoder.decode(as_inputs([text.split()]), nbest, work=work)
    return best, work


def sums(decoder, derivation):
    return dict(zip(decoder.names, derivation.linear_sums.tolist(), strict=True))


def test_an_ngram_is_used_as_often_as_it_is_expected():
    text = "the man and the man and the dog"
    decoder = decoder_of({"x x x x x x x x": bigrams_of(text)})
    best, _ = translate(decoder, "x x x x x x x x")
    assert " ".join(best[0].words) == text
    assert sums(decoder, best[0])["regression_2"] == pytest.approx(9)  # all that was predicted
    assert sums(decoder, best[0])[REPEATS] == 0


def test_the_language_model_chooses_among_eulerian_paths():
    words = ["<s>", "a", "b", "a", "c", "a", "d", "</s>"]  # b, c and d can stand in any order
    grams = bigrams_of("a b a c a d")
    grams |= {("b", "</s>"): 0.0, ("c", "</s>"): 0.0, ("d", "a"): 1.0, ("d", "</s>"): 1.0}
    text = Sentences.encode([["a", "c", "a", "b", "a", "d"]] * 3)
    model = NgramModel.from_trie(estimate(text, LmSettings(order=3)))
    decoder = decoder_of({" ".join(["x"] * 6): grams}, {"lm": 1.0, "repeats": -9.0}, [model])
    best, _ = translate(decoder, " ".join(["x"] * 6), 10)
    assert best[0].words == ["a", "c", "a", "b", "a", "d"]
    assert words[1:-1] in [item.words for item in best]


def test_where_nothing_connects_fragments_are_glued_and_that_is_counted():
    grams = {("<s>", "a"): 1.0, ("a", "b"): 1.0, ("c", "d"): 1.0, ("d", "</s>"): 1.0}
    decoder = decoder_of({"x x x x": grams})
    best, work = translate(decoder, "x x x x", 5)
    assert best[0].words == ["a", "b", "c", "d"]
    assert sums(decoder, best[0])[GLUE] == 1
    assert work[UNCONNECTED] == 1
    _, work = translate(decoder_of({"x": bigrams_of("a b")}), "x")
    assert work[UNCONNECTED] == 0


def test_without_marks_or_without_words_there_still_is_a_translation():
    decoder = decoder_of({"x": {("a", "b"): 1.0}, "y": {}, "z": {("<s>", "</s>"): 1.0}})
    best, work = translate(decoder, "x")
    assert best[0].words == ["a", "b"]
    assert (sums(decoder, best[0])[GLUE], work[UNCONNECTED]) == (2, 1)
    for text in "yz":
        best, _ = translate(decoder, text)
        assert [item.words for item in best] == [[]]
        assert best[0].score == pytest.approx(best[0].linear_sums @ decoder.weights)


def test_unknown_source_words_are_passed_through_once_each_where_the_settings_allow_it():
    grams = {"x ?12 ?q ?12": bigrams_of("a b")}
    eager = {"copied": 100.0}
    decoder = decoder_of(grams, eager)
    best, work = translate(decoder, "x ?12 ?q ?12", 20)
    assert sorted(word for word in best[0].words if word[0] == "?") == ["?12", "?12", "?q"]
    assert work[5] == 3
    linked = decoder.word_alignment(best[0])
    assert sorted(source for source, _ in linked) == [1, 2, 3]
    assert all(best[0].words[t] == ["x", "?12", "?q", "?12"][s] for s, t in linked)
    assert max(item.words.count("?12") for item in best) == 2
    numbers, _ = translate(decoder_of(grams, eager, copy="numbers"), "x ?12 ?q ?12")
    assert sorted(word for word in numbers[0].words if word[0] == "?") == ["?12", "?12"]
    none, _ = translate(decoder_of(grams, eager, copy="none"), "x ?12 ?q ?12")
    assert none[0].words == ["a", "b"]


def corpus(rng, sentences, noise=0.6):
    """Return sentences, references, and what a bad regression would say: too little of the truth, and much noise."""
    words = [f"w{k}" for k in range(12)]
    successors = {word: [str(next_word) for next_word in rng.choice(words, 3, replace=False)] for word in words}
    source, targets, grams = [], [], {}
    for number in range(sentences):
        target = [str(rng.choice(words))]
        while len(target) < rng.integers(4, 9):
            target.append(str(rng.choice(successors[target[-1]])))
        source.append([f"s{number}", *(["x"] * (len(target) - 1))])
        targets.append(target)
        some = {pair: float(rng.normal(0.3, 0.1)) for pair in bigrams_of(" ".join(target))}
        for word in words:
            for pair in (("<s>", word), (word, "</s>"), *((word, other) for other in successors[word])):
                some.setdefault(pair, float(abs(rng.normal(0.0, noise * 0.25))))
        grams[tuple(source[-1])] = some
    return source, targets, grams


def test_mert_tunes_it_like_any_other_decoder():
    rng = np.random.default_rng(5)
    source, targets, grams = corpus(rng, 40)
    provider = WrittenGrams(grams, (2,))
    model = NgramModel.from_trie(estimate(Sentences.encode(targets), LmSettings(order=2)))
    poor = {**untuned_weights(1, (2,)), "lm": 0.0, "word_penalty": -1.0, "regression_2": 1.0}
    decoder = GraphDecoder(provider, [model], poor, GraphSettings(beam=50))
    dev = DevSet(source, [targets], decoder.target_vocabulary, "bleu")
    outcome = tune(decoder, dev, TuneSettings(tuner="mert", iterations=5, nbest=50))
    rounds = outcome.replicas[0].rounds
    assert outcome.scores[0] > rounds[0].score + 10
    again = tune(decoder, dev, TuneSettings(tuner="mert", iterations=5, nbest=50), engine=Threads(2))
    assert again.weights.values == outcome.weights.values
    # the columns that tuning sees are those of the derivations, and give the decoder's own scores
    tuned = outcome.decoder
    columns = tuned.decode_columns(dev.inputs, dev.vocabulary, 20)
    decoded = list(tuned.decode(dev.inputs, 20))
    flat = [item for best in decoded for item in best]
    assert columns.counts.tolist() == [len(best) for best in decoded]
    assert columns.features @ tuned.weights == pytest.approx([item.score for item in flat])
    assert [dev.vocabulary.decode(words) for words in columns.words] == [item.words for item in flat]


def test_bins_of_predicted_values_can_be_tuned_but_trees_are_refused():
    source, targets, grams = corpus(np.random.default_rng(6), 15)
    decoder = GraphDecoder(WrittenGrams(grams, (2,)), [], untuned_weights(0, (2,)), GraphSettings(beam=30))
    inputs = as_inputs(source)
    bent = bent_decoder(decoder, inputs, "bins", BendSettings(bits=3))
    assert any(name.startswith("regression_2@") for name in bent.names)
    for best in bent.decode(inputs, 5):
        scores = bent.weighing.scores(*parts_of(bent.inputs, best))
        assert scores == pytest.approx([item.score for item in best])
    dev = DevSet(source, [targets], decoder.target_vocabulary, "bleu")
    quick = {"iterations": 2, "nbest": 10}
    with pytest.raises(CamberError, match="cannot be weighed by trees"):
        tune(decoder, dev, TuneSettings(tuner="pro", bend="trees", **quick))


def test_lists_are_written_and_read_with_their_parts(tmp_path):
    decoder = decoder_of({"x ?q": {**bigrams_of("a b", "a c"), ("b", "b"): 0.4}}, {"copied": 5.0}, glue="always")
    decoded = [translate(decoder, "x ?q", 8)[0]]
    nbest = to_nbest(decoder, decoded)
    for name in ("list.jsonl", "list.moses"):
        nbest.write(tmp_path / name, name.split(".")[1])
        again = NBest.read(tmp_path / name)
        assert again.texts == nbest.texts
        assert again.scores == pytest.approx(nbest.scores)
        sums = {feature: again.hypothesis_features()[:, k] for k, feature in enumerate(again.names)}
        for k, feature in enumerate(nbest.names):
            assert np.nan_to_num(sums[feature]) == pytest.approx(np.nan_to_num(nbest.hypothesis_features()[:, k]))
    segments = nbest.segmentation(0).split()
    assert [piece.split("=")[1] for piece in segments] == [str(place) for place in range(len(decoded[0][0].words))]


def test_long_and_empty_sentences():
    models = [ngram_model_of(random_ngrams(np.random.default_rng(1), 3))]
    long = " ".join(["x"] * 10)
    decoder = decoder_of(
        {"": {}, long: bigrams_of(*["u v u w"] * 2), "x x": bigrams_of("u v")}, models=models, window=10
    )
    whole, _ = translate(decoder, f"{long} x x", 3)
    parts = [translate(decoder, text)[0][0].words for text in (long, "x x")]
    assert len(whole[0].words) == len(whole[0].features) - 2
    assert whole[0].words[-len(parts[1]) :] == parts[1]
    assert whole[0].score == pytest.approx(whole[0].linear_sums @ decoder.weights)
    heard = models[0].score([whole[0].words])[0]
    assert sums(decoder, whole[0])["lm"] == pytest.approx(heard, abs=1e-4)
    (empty,) = decoder.decode(as_inputs([[]]))
    assert [(item.words, len(item.features)) for item in empty] == [([], 0)]
    assert decoder.decode_columns(as_inputs([[], ["x", "x"]]), decoder.target_vocabulary, 2).counts[0] == 1


def test_what_the_source_must_not_give_is_refused():
    decoder = decoder_of({"x": {("a",): 1.0, ("a", "b"): 1.0}})
    with pytest.raises(CamberError, match="sentence 0: an n-gram of 1 words; expected 2"):
        translate(decoder, "x")
    with pytest.raises(CamberError, match="make no graph"):
        GraphDecoder(WrittenGrams({}, (1,)), [], untuned_weights(0, (1,)))
    with pytest.raises(CamberError, match="at least 1 is needed"):
        list(decoder.decode(as_inputs([["x"]]), 0))
