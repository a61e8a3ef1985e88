"""How much of each stage of a training is done by tasks, which a cluster's workers can do, and what travels for that.

    python benchmarks/shares.py --pairs 1000000 --machines 20 --out shares.json

The training runs here, on one thread, with an engine that looks at the CPU time of each task, and at the size of what
it is given and gives back. What is left of a stage's CPU time is the command's own, wherever the workers are. Text and
options are those of `scale.py`; `estimate.py` tells from both what a larger text would take (`docs/scale.md`). All
machines are taken to see the folder of the model under one name.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scale import ROOT, write_text

import camber
from camber.engine.in_place import dumped
from camber.progress import Event


@dataclass
class Share:
    """What a stage takes: CPU-seconds, and bytes that travel."""

    tasks: float = 0.0  # CPU-seconds of tasks
    command: float = 0.0  # CPU-seconds of all else
    pieces: int = 0
    shared: int = 0  # bytes that every worker gets
    sent: int = 0  # bytes that one worker or the other gets
    back: int = 0  # bytes that come back
    between: int = 0  # bytes that go from worker to worker


def travels(value: Any) -> int:
    """Return how many bytes a value takes on its way; what is mapped from files is opened at its end."""
    return len(dumped(value, Path("/")))


class Looking:
    """An engine that runs tasks where they are called, one after the other, and looks at each."""

    def __init__(self, parts: int) -> None:
        self.parts = parts
        self.shares: dict[str, Share] = defaultdict(Share)
        self.stage = ""
        self._looking = 0.0  # CPU-seconds that looking took since the stage began
        self._begin = self._tasks = 0.0

    @property
    def share(self) -> Share:
        """What the stage that is under way takes."""
        return self.shares[self.stage]

    def told(self, event: Event) -> None:
        """Take note of where stages begin and end."""
        if len(event.path) > 1 or event.kind not in ("begin", "end"):
            return
        now = time.process_time()
        if event.kind == "begin":
            self.stage, self._begin, self._looking, self._tasks = event.name, now, 0.0, self.shares[event.name].tasks
        else:
            own = self.share.tasks - self._tasks
            self.share.command += now - self._begin - self._looking - own
            self.stage = ""

    def map(self, task: Callable[[Any, Any], Any], shared: Any, pieces: Iterable[Any]) -> Iterator[Any]:
        """Run a task on every piece."""
        self._size("shared", shared)
        for piece in pieces:
            self._size("sent", piece)
            result = self._run(task, shared, piece)
            self._size("back", result)
            yield result

    def exchange(
        self,
        split: Callable[[Any, Any], Sequence[Any]],
        shared: Any,
        pieces: Iterable[Any],
        merge: Callable[[Any, Iterable[Any]], Any],
        bases: Sequence[Any],
    ) -> Iterator[Any]:
        """Split pieces, and merge the parts of each number."""
        self._size("shared", shared)
        rows = []
        for piece in pieces:
            self._size("sent", piece)
            rows.append(self._run(split, shared, piece))
            self._size("between", rows[-1])
        for k, base in enumerate(bases):
            self._size("sent", base)
            result = self._run(merge, base, [row[k] for row in rows])
            self._size("back", result)
            yield result

    def _run(self, task: Callable[..., Any], *given: Any) -> Any:
        begin = time.process_time()
        result = task(*given)
        self.share.tasks += time.process_time() - begin
        self.share.pieces += 1
        return result

    def _size(self, where: str, value: Any) -> None:
        begin = time.process_time()
        setattr(self.share, where, getattr(self.share, where) + travels(value))
        self._looking += time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder with tatoeba-fr-en")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument(
        "--memory", default="200M", help="so little that arrays are mapped, as those of large texts are"
    )
    parser.add_argument("--folder", type=Path, default=Path("scale-work"), help="where text and the model go")
    parser.add_argument("--out", type=Path, default=Path("shares.json"))
    args = parser.parse_args()
    if not (args.data / "tatoeba-fr-en/train.fr").exists():
        parser.exit(1, f"no tatoeba-fr-en in {args.data}: give --data a folder that has it\n")
    engine = Looking(args.machines)
    model = args.folder / "model-shares"
    for path in (model, model.with_name(model.name + ".work")):
        shutil.rmtree(path, ignore_errors=True)
    camber.train(
        *write_text(args.data, args.pairs, args.folder),
        model,
        settings=camber.TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}}),
        held_out=1000,
        tuned=False,
        engine=engine,
        memory=args.memory,
        progress=engine.told,
    )
    shares = {name: asdict(share) for name, share in engine.shares.items() if name}
    args.out.write_text(json.dumps({"pairs": args.pairs, "machines": args.machines, "stages": shares}, indent=1) + "\n")
    for name, share in shares.items():
        print(name, {key: round(value, 1) if isinstance(value, float) else value for key, value in share.items()})


if __name__ == "__main__":
    main()
