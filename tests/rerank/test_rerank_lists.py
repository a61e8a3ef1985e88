"""camber rerank with lists as today's engines write them: flat texts, scores in files, parts of a text, JSON."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from camber.cli.curves import command as curves
from camber.cli.info import command as info
from camber.cli.rerank import command
from camber.errors import CamberError, InputError
from camber.features.weights import Weights
from camber.model.directory import ModelDirectory
from camber.nbest import NBest
from camber.rerank.reranker import Reranker

RIGHT = ["the old man sees a cat", "a dog likes the house", "the man finds a tree", "a cat likes the old man"]
CANDIDATES, SENTENCES, FIRST = 5, 24, 1250


@pytest.fixture
def files(tmp_path):
    """Sampled candidates in no order that means anything, and two scores of each: one that tells, one that does not."""
    rng = np.random.default_rng(3)
    references = [RIGHT[k % 4] for k in range(SENTENCES)]
    texts, good, idle = [], [], []
    for reference in references:
        for _ in range(CANDIDATES):
            words = reference.split()
            wrong = rng.integers(0, 4)
            for place in rng.choice(len(words), wrong, replace=False):
                words[place] = "zzz"
            texts.append(" ".join(words))
            good.append(-wrong + rng.normal(0, 0.1))
            idle.append(rng.normal())
    write(tmp_path / "flat", texts)
    write(tmp_path / "good", good)
    write(tmp_path / "idle", idle)
    write(tmp_path / "ref", references)
    write(tmp_path / "src", [line.upper() for line in references])
    offsets = np.arange(SENTENCES + 1) * CANDIDATES
    part = NBest.of_hypotheses(("f",), offsets, texts, np.array(good)[:, None], first=FIRST)
    part.write(tmp_path / "part", "moses")
    return tmp_path


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def run(folder, *arguments):
    return CliRunner().invoke(command, [str(a).replace("@", f"{folder}/") for a in arguments])


def done(folder, *arguments):
    result = run(folder, *arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def lines_of(path):
    return path.read_text().splitlines()


FLAT = ("--nbest", "@flat", "--format", "flat", "--candidates", CANDIDATES)
FIT = ("fit", "--model", "@model", "--ref", "@ref", "--tokenize", "none")
GOOD, IDLE = ("--scores", "good=@good"), ("--scores", "idle=@idle")


def test_a_flat_list_with_scores_is_fitted_and_re_ranked(files):
    report = json.loads(done(files, *FIT, *FLAT, *GOOD, *IDLE, "--json", "--held-out", 4))
    assert (report["sentences"], report["hypotheses"]) == (SENTENCES, SENTENCES * CANDIDATES)
    assert report["held_out"]["tuned"] > report["one_best"] + 10
    best = done(files, "apply", "@model", *FLAT, *GOOD, *IDLE).splitlines()
    good = np.array(lines_of(files / "good"), float).reshape(SENTENCES, CANDIDATES)
    texts = np.array(lines_of(files / "flat")).reshape(SENTENCES, CANDIDATES)
    chosen = texts[np.arange(SENTENCES), good.argmax(1)]
    wrong = [sum(line.split().count("zzz") for line in some) for some in (best, chosen, texts[:, 0])]
    assert wrong[0] <= wrong[1] + 1 < wrong[2]
    # the order in which scores are named does not matter, and the older name of the flag works
    other = ("--nbest", "@flat", "--nbest-format", "flat", "--candidates", CANDIDATES)
    assert done(files, "apply", "@model", *other, *IDLE, *GOOD).splitlines() == best


def test_a_re_ranked_flat_list_is_written_flat(files):
    done(files, *FIT, *FLAT, *GOOD)
    best = done(files, "apply", "@model", *FLAT, *GOOD, "--nbest-out", "@out.flat").splitlines()
    again = NBest.read(files / "out.flat", "flat", candidates=CANDIDATES)
    assert again.best_texts() == best
    assert sorted(again.texts) == sorted(lines_of(files / "flat"))


def test_apply_wants_the_scores_of_the_fitting(files):
    done(files, *FIT, *FLAT, *GOOD, *IDLE)
    with pytest.raises(CamberError, match=r"was fitted on: idle; it has: .*good.*--scores NAME=FILE"):
        raise run(files, "apply", "@model", *FLAT, *GOOD).exception
    with pytest.raises(CamberError, match="features that the model does not know: more"):
        raise run(files, "apply", "@model", *FLAT, *GOOD, *IDLE, "--scores", "more=@idle").exception


@pytest.mark.parametrize("option", ["--scores", "--extra"])
def test_a_score_that_is_the_metric_is_no_feature(files, option):
    fit = ("fit", "--model", "@model", *FLAT, "--metric", "extra:good", "--json", *IDLE, "--length")
    report = json.loads(done(files, *fit, option, "good=@good"))
    assert report["metric"] == "good"
    assert "good" not in report["weights"]
    assert {"idle", "list.rank", "length.words"} <= report["weights"].keys()
    good = np.array(lines_of(files / "good"), float).reshape(SENTENCES, CANDIDATES)
    assert report["one_best"] == pytest.approx(good[:, 0].mean())
    assert report["oracle"] == pytest.approx(good.max(1).mean())
    assert len(done(files, "apply", "@model", *FLAT, *IDLE).splitlines()) == SENTENCES
    refused = run(files, "apply", "@model", *FLAT, *IDLE, *GOOD)
    assert refused.exit_code == 2
    assert "fitted to good, which is no feature; leave it out" in refused.output


def test_less_may_be_better_of_a_score(files):
    write(files / "bad", [-float(line) for line in lines_of(files / "good")])
    fit = ("fit", "--model", "@model", *FLAT, "--metric", "extra:-bad", "--json", *GOOD, "--scores", "bad=@bad")
    report = json.loads(done(files, *fit))
    assert report["tuned"] == pytest.approx(report["oracle"])
    assert report["oracle"] < report["one_best"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--nbest", "@flat", "--format", "flat"), "does not tell where a sentence ends"),
        (("--nbest", "@part", "--candidates", "5"), "tells how many candidates a sentence has"),
        ((*FLAT, "--scores", "good"), "--scores good: expected NAME=FILE"),
        ((*FLAT, *GOOD, *GOOD), "scores named good are given twice"),
        ((*FLAT, "--extra", "good=@good"), "makes no difference without --metric extra:good; --scores makes a feature"),
        (("--nbest", "@part", "--scores", "f=@good"), "the list has a feature f of its own; choose another name"),
    ],
)
def test_wrong_usage_is_told(files, arguments, message):
    result = run(files, *FIT, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (files / "model").exists()


def test_flat_lists_and_texts_must_have_the_same_sentences(files):
    """Nothing in the file tells which sentences are missing."""
    with pytest.raises(InputError, match=r"flat:120: 120 lines are 12 sentences of 10 candidates, but there are 24"):
        raise run(files, *FIT, "--nbest", "@flat", "--format", "flat", "--candidates", 10).exception
    with pytest.raises(InputError, match=r"flat:120: 120 lines are no multiple of 7 candidates"):
        raise run(files, *FIT, "--nbest", "@flat", "--format", "flat", "--candidates", 7).exception
    done(files, *FIT, *FLAT, *GOOD)
    half = ("--nbest", "@flat", "--format", "flat", "--candidates", 2)
    with pytest.raises(InputError, match="120 lines are 60 sentences of 2 candidates, but there are 24 sentences"):
        raise run(files, "apply", "@model", *half, *GOOD, "--source", "@src").exception


def test_scores_of_fairseqs_output_stand_in_the_order_of_its_lines(files):
    """Hypotheses of several parts each, and the last sentence first."""
    texts, good = lines_of(files / "flat"), lines_of(files / "good")
    output, scores = [], []
    for sentence in reversed(range(SENTENCES)):
        for row in range(sentence * CANDIDATES, (sentence + 1) * CANDIDATES):
            output += [f"H-{sentence}\t-1\t{texts[row]}", f"P-{sentence}\t-0.5 -0.5"]
            scores.append(good[row])
    write(files / "fairseq", output)
    write(files / "sorted", scores)
    done(files, *FIT, *FLAT, *GOOD)
    best = done(files, "apply", "@model", *FLAT, *GOOD).splitlines()
    given = ("--nbest", "@fairseq", "--scores", "good=@sorted")
    done(files, *FIT, *given)
    assert done(files, "apply", "@model", *given).splitlines() == best


# --- parts of a text --------------------------------------------------------------------------------------------------
PART = ("--nbest", "@part")


def test_a_list_of_a_part_of_a_text_is_re_ranked_to_what_is_there(files, caplog):
    done(files, *FIT, *PART)
    lines = done(files, "apply", "@model", *PART).splitlines()
    assert len(lines) == SENTENCES
    assert all(lines)
    assert "no hypotheses" not in caplog.text
    done(files, "apply", "@model", *PART, "--nbest-out", "@out", "--output", "@best.jsonl", "--all")
    for name in ("out", "best.jsonl"):
        part = NBest.read(files / name).covered()
        assert (part.first, part.best_texts()) == (FIRST, lines)


def test_a_gap_inside_is_an_empty_line_and_is_told(files, caplog):
    done(files, *FIT, *PART)
    kept = [line for line in lines_of(files / "part") if not line.startswith((f"{FIRST} ", f"{FIRST + 7} "))]
    write(files / "gap", kept)
    lines = done(files, "apply", "@model", "--nbest", "@gap").splitlines()
    assert len(lines) == SENTENCES - 1  # it begins with the second sentence
    assert [place for place, line in enumerate(lines) if not line] == [6]
    assert (
        f"1 of {SENTENCES - 1} sentences have no hypotheses and count as empty translations: {FIRST + 7}" in caplog.text
    )


def test_there_is_a_line_for_every_source(files):
    done(files, *FIT, *PART)
    lines = done(files, "apply", "@model", *PART).splitlines()
    assert done(files, "apply", "@model", *PART, "--source", "@src").splitlines() == lines
    write(files / "whole", ["x"] * (FIRST + SENTENCES + 2))
    whole = done(files, "apply", "@model", *PART, "--source", "@whole").split("\n")[:-1]
    assert whole == [""] * FIRST + lines + ["", ""]
    write(files / "wrong", ["x"] * (SENTENCES + 1))
    with pytest.raises(
        InputError, match=r"wrong:26: 25 lines, but the list has the sentences 1,250 to 1,273 \(from 0\)"
    ):
        raise run(files, "apply", "@model", *PART, "--source", "@wrong").exception


def test_a_part_is_fitted_to_its_references_or_to_those_of_the_whole_text(files):
    fit = ("fit", *PART, "--tokenize", "none", "--json", "--length", "--model")
    few = json.loads(done(files, *fit, "@few", "--ref", "@ref", "--source", "@src"))
    for name in ("ref", "src"):
        write(files / f"{name}.whole", [*["x"] * FIRST, *lines_of(files / name), *["x"] * 3])
    many = json.loads(done(files, *fit, "@many", "--ref", "@ref.whole", "--source", "@src.whole"))
    mixed = json.loads(done(files, *fit, "@mixed", "--ref", "@ref.whole", "--ref", "@ref", "--source", "@src"))
    assert few == many
    assert few["sentences"] == mixed["sentences"] == SENTENCES
    assert few["weights"] == mixed["weights"]  # the second reference is the first once more
    nbest = NBest.read(files / "part").covered()
    texts = Reranker.load(files / "few").rerank(nbest, lines_of(files / "src")).best_texts()
    assert done(files, "apply", "@many", *PART, "--source", "@src").splitlines() == texts


# --- JSON -------------------------------------------------------------------------------------------------------------
def test_the_best_come_as_json_lines_with_score_and_rank(files):
    done(files, *FIT, *PART)
    lines = done(files, "apply", "@model", *PART).splitlines()
    items = [
        json.loads(line) for line in done(files, "apply", "@model", *PART, "--output-format", "jsonl").splitlines()
    ]
    assert [item["text"] for item in items] == lines
    assert [item["sentence"] for item in items] == list(range(FIRST, FIRST + SENTENCES))
    assert all(list(item) == ["sentence", "rank", "text", "score"] and item["rank"] == 0 for item in items)
    every = done(files, "apply", "@model", *PART, "--output-format", "jsonl", "--all").splitlines()
    scored = Reranker.load(files / "model").scores(NBest.read(files / "part"))
    assert sorted(json.loads(line)["score"] for line in every) == pytest.approx(sorted(scored))
    for place, item in enumerate(map(json.loads, every)):
        assert divmod(place, CANDIDATES) == (item["sentence"] - FIRST, item["rank"])
        assert item["rank"] == 0 or item["score"] <= json.loads(every[place - 1])["score"]
    done(files, "apply", "@model", *PART, "--output", "@best.jsonl.gz")
    assert NBest.read(files / "best.jsonl.gz").covered().best_texts() == lines
    done(files, "apply", "@model", *PART, "--output", "@best.jsonl", "--output-format", "text")
    assert lines_of(files / "best.jsonl") == lines
    refused = run(files, "apply", "@model", *PART, "--all")
    assert refused.exit_code == 2
    assert "--all makes no difference to text" in refused.output


def test_weights_and_curves_come_as_json(files):
    fit = (*FIT, *PART, "--learner", "mnr", "--bits", 2, "--no-cautious", "--json")
    report = json.loads(done(files, *fit))
    reranker = Reranker.load(files / "model")
    assert report["weights"] == Weights.read(ModelDirectory.open(files / "model").file("weights.tsv")).values
    told = json.loads(CliRunner().invoke(info, [str(files / "model"), "--json"]).stdout)
    drawn = CliRunner().invoke(curves, [str(files / "model"), "--out", str(files / "curves.json")])
    assert drawn.exit_code == 0, drawn.output
    written = json.loads((files / "curves.json").read_text())
    assert written["model"] == "model"
    assert report["curves"] == told["curves"] == written["curves"]
    assert report["weights"] == told["weights"]
    for curve, response in zip(written["curves"], reranker.responses(), strict=True):
        assert curve["feature"] == response.feature
        for name in ("lows", "highs", "populations", "values"):
            assert curve[name] == getattr(response, name).tolist()
        assert len(curve["edges"]) == len(curve["values"]) - 1
        bins = reranker.fitted.bend.bins[curve["feature"]]
        between = np.linspace(response.lows[0] - 1, response.highs[-1] + 1, 50)
        assert np.searchsorted(curve["edges"], between, side="right").tolist() == bins.of(between).tolist()
    one = [str(files / "model"), "--out", str(files / "one.json"), "--feature", "f"]
    assert CliRunner().invoke(curves, one).exit_code == 0
    assert [curve["feature"] for curve in json.loads((files / "one.json").read_text())["curves"]] == ["f"]
    refused = CliRunner().invoke(curves, [*one, "--axis", "log"])
    assert refused.exit_code == 2
    assert "--axis makes no difference to a .json file" in refused.output


def test_a_linear_model_has_weights_and_no_curves_in_json(files):
    report = json.loads(done(files, *FIT, *PART, "--json"))
    assert report["curves"] == []
    told = json.loads(CliRunner().invoke(info, [str(files / "model"), "--json"]).stdout)
    assert (told["weights"], told["curves"]) == (report["weights"], [])
    nbest = NBest.read(files / "part").covered()
    wide = Reranker.load(files / "model").with_features(nbest)
    by_hand = wide.hypothesis_features() @ [report["weights"][name] for name in wide.names]
    assert Reranker.load(files / "model").scores(nbest) == pytest.approx(by_hand)
