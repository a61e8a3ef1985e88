"""How far descents with tied bins get: PRO's objective after so many steps, with and without coordinates for the ties.

    python benchmarks/descent.py [--data ../shared] [--bits 4,8] [--betas 1e5,1e7] [--kinds lnr,mnr] [--sentences 507]

One list: 100-best translations of the first dev sentences of Multi30k de-en by an untuned phrase model. The peer is the
same descent without coordinates (`scales`). Objectives are shown as excess over the lowest of a row's descents.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import note

import camber
from camber.bend.settings import BendSettings
from camber.engine import Threads
from camber.files import read_lines
from camber.pipeline.settings import TrainSettings
from camber.pipeline.tune import dev_set
from camber.tune import pro
from camber.tune.bending import bent_decoder
from camber.tune.descent import Coordinates, tied_coordinates
from camber.tune.dev_set import DevSet
from camber.tune.loop import merged

ROOT = Path(__file__).resolve().parent.parent
STEPS = (200, 1000, 3000)


def scales_only(data: Any, regulariser: Any, share: float) -> Coordinates:
    """Return coordinates that know nothing of ties."""
    return Coordinates(1.0 / data.scales())


def descents(translator: Any, dev: DevSet, kind: str, bits: int, beta: float) -> list[tuple[str, int, float, float]]:
    """Return (coordinates, steps taken, objective, CPU-seconds) of every descent."""
    decoder = bent_decoder(translator.decoder, dev.inputs, kind, BendSettings(bits=bits))
    hypotheses = decoder.decode_columns(dev.inputs, dev.vocabulary, 100, Threads(1))
    data, _ = merged(None, hypotheses, dev.statistics(hypotheses), decoder.names, dev.metric)
    penalty = decoder.bend.penalty(BendSettings(beta=beta), [data.names[at] for at in data.free.tolist()])
    rows = []
    for name, coordinates in (("scales", scales_only), ("ties", tied_coordinates)):
        for steps in STEPS:
            pro.TIED_STEPS, pro.tied_coordinates = steps, coordinates
            start = time.process_time()
            fitted = pro.Pro(steps=1).fit(data, decoder.weights, seed=1, regulariser=penalty)
            rows.append((name, int(fitted.info["steps"]), fitted.objective, time.process_time() - start))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared", help="folder with data/multi30k")
    parser.add_argument("--kinds", default="lnr,mnr")
    parser.add_argument("--bits", default="4,8")
    parser.add_argument("--betas", default="1e5,1e7")
    parser.add_argument("--sentences", type=int, default=507)
    arguments = parser.parse_args()
    text = arguments.data / "data" / "multi30k" / "tok"
    if not text.is_dir():
        sys.exit(f"{text} is absent; name the folder that has data/multi30k with --data")
    with tempfile.TemporaryDirectory(prefix="camber-bench-") as work:
        settings = TrainSettings.from_dict({"text": {"tokenizer": "none"}})
        model = camber.train(
            text / "train.de", text / "train.en", Path(work) / "m", held_out=0, tuned=False, settings=settings
        ).searching({"pop_limit": 100})
        source, target = (read_lines(text / f"dev.{side}")[: arguments.sentences] for side in ("de", "en"))
        dev = dev_set(model, source, [target])
        print("kind  bits     beta  coordinates   steps     excess    CPU-s")
        for kind in arguments.kinds.split(","):
            for bits in map(int, arguments.bits.split(",")):
                for beta in map(float, arguments.betas.split(",")):
                    rows = descents(model, dev, kind, bits, beta)
                    least = min(objective for _, _, objective, _ in rows)
                    for name, steps, objective, seconds in rows:
                        note(f"{kind}, {bits} bits, beta {beta:g}, {name}, steps", steps, more_is_better=False)
                        excess = f"{objective / least - 1:.3%}"
                        print(
                            f"{kind:4} {bits:5} {beta:8g}  {name:11} {steps:7,} {excess:>10} {seconds:8.1f}", flush=True
                        )


if __name__ == "__main__":
    main()
