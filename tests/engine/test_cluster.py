"""A Dask cluster: the same bytes as threads, whatever happens to workers. Real schedulers and workers, on loopback."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import camber
from camber.cli import cli
from camber.engine import Threads
from camber.engine.in_place import LEAST, dumped, mapped_from
from camber.errors import CamberError, InputError, SettingsError
from camber.files import read_lines, write_lines
from camber.pipeline.folds import FoldSettings
from camber.progress import Event

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'camber[cluster]'")

from camber.engine import cluster as clusters
from camber.engine.cluster import Cluster, ClusterError

pytestmark = pytest.mark.slow

ARRAY = np.arange(4 * LEAST, dtype=np.int32)


@pytest.fixture(scope="module")
def engine() -> Iterator[Cluster]:
    """Two workers have to die with a piece before it is blamed, and two more when it is alone; Dask says four."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), Cluster.open("local:3") as cluster:
        yield cluster


# --- tasks, which workers import from here ---


def squared(power: int, number: int) -> int:
    return int(number**power)


def summed(array: Any, piece: tuple[int, int]) -> float:
    return float(np.asarray(array)[piece[0] : piece[1]].sum())


def bad(_: None, number: int) -> int:
    if number == 2:
        raise InputError("a bad line", "file.txt", 7, remedy="mend it")
    return 1 // (number - 3)


def dying_once(folder: str, number: int) -> int:
    if number == 3:
        mark = Path(folder) / "died"
        if not mark.exists():
            mark.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def deadly(_: None, number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def slow(_: None, number: int) -> int:
    time.sleep(0.3)
    return number


def by_remainder(count: int, numbers: range) -> list[list[int]]:
    return [[number for number in numbers if number % count == part] for part in range(count)]


def listed(base: str, parts: Iterable[list[int]]) -> tuple[str, list[int]]:
    return base, [number for part in parts for number in part]


def badly_split(count: int, numbers: range) -> list[list[int]]:
    if 7 in numbers:
        raise InputError("a bad piece", "file.txt", 7)
    return by_remainder(count, numbers)


def deadly_split(count: int, numbers: range) -> list[list[int]]:
    if 7 in numbers:
        os.kill(os.getpid(), signal.SIGKILL)
    return by_remainder(count, numbers)


def badly_listed(base: str, parts: Iterable[list[int]]) -> str:
    if base == "b":
        raise InputError(f"a bad part: {[len(part) for part in parts]}", "file.txt", 8)
    return base


def deadly_listed(base: str, parts: Iterable[list[int]]) -> str:
    time.sleep(0.3)  # others begin to wait; a worker that dies while it is started is not started again
    if base == "e":
        os.kill(os.getpid(), signal.SIGKILL)
    return base


class Poison:
    """What ends every process that unpickles it."""

    def __reduce__(self) -> Any:
        return end_this_process, ()


def end_this_process() -> None:
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)


def listed_after_a_death(base: tuple[str, str], parts: Iterable[list[int]]) -> tuple[str, list[int]]:
    dying_once(base[1], 3 if base[0] == "b" else 0)
    return listed(base[0], parts)


# --- results ---


def test_results_come_in_order(engine: Cluster) -> None:
    assert list(engine.map(squared, 2, range(50))) == [number * number for number in range(50)]
    assert list(engine.map(squared, 2, [])) == []
    taken = engine.map(squared, 2, iter(range(10**9)))  # pieces are asked for as they are needed
    assert [next(taken) for _ in range(5)] == [0, 1, 4, 9, 16]
    taken.close()  # type: ignore[attr-defined]


def test_errors_of_tasks_are_those_of_threads(engine: Cluster) -> None:
    found = engine.map(bad, None, range(9))
    assert [next(found), next(found)] == [-1, -1]
    with pytest.raises(InputError, match=r"file\.txt:7: a bad line; mend it") as caught:
        next(found)
    assert (caught.value.path, caught.value.line) == ("file.txt", 7)
    with pytest.raises(ZeroDivisionError):
        list(engine.map(bad, None, [3]))


PIECES = [range(first, first + 5) for first in range(0, 30, 5)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_of_the_same_number_are_merged_in_the_order_of_the_pieces(engine: Cluster, count: int) -> None:
    bases = "abc"[:count]
    expected = [(base, list(range(part, 30, count))) for part, base in enumerate(bases)]
    for where in (engine, Threads(1), Threads(3)):
        assert list(where.exchange(by_remainder, count, iter(PIECES), listed, bases)) == expected
        assert list(where.exchange(by_remainder, count, [], listed, bases)) == [(base, []) for base in bases]


def test_errors_of_pieces_and_of_parts_are_those_of_threads(engine: Cluster) -> None:
    for where in (engine, Threads(2)):
        with pytest.raises(InputError, match=r"file\.txt:7: a bad piece"):
            list(where.exchange(badly_split, 3, PIECES, listed, "abc"))
        merged = where.exchange(by_remainder, 3, PIECES, badly_listed, "abc")
        assert next(merged) == "a"
        with pytest.raises(InputError, match=r"file\.txt:8: a bad part: \[2, 1, 2, 2, 1, 2\]"):
            next(merged)


def test_a_piece_that_ends_the_workers_of_an_exchange_is_named(engine: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"piece 2 of .*deadly_split ended every worker that tried it"):
        list(engine.exchange(deadly_split, 3, PIECES, listed, "abc"))


def test_what_a_worker_had_of_an_exchange_is_made_anew_where_it_died(engine: Cluster, tmp_path: Path) -> None:
    bases = [(letter, str(tmp_path)) for letter in "abc"]
    expected = [(base, list(range(part, 30, 3))) for part, base in enumerate("abc")]
    assert list(engine.exchange(by_remainder, 3, PIECES, listed_after_a_death, bases)) == expected
    assert (tmp_path / "died").exists()


def test_a_part_that_ends_its_workers_is_named(engine: Cluster) -> None:
    """Whatever part waits on its workers, and whatever piece must be made anew there, is not."""
    merged, results = engine.exchange(by_remainder, 6, PIECES, deadly_listed, "abcdef"), []
    with pytest.raises(ClusterError, match=r"part 5 of .*deadly_listed ended every worker that tried it"):
        results.extend(merged)
    assert results == list("abcd")
    assert next(iter(engine.exchange(by_remainder, 2, PIECES, listed, "ab"))) == ("a", list(range(0, 30, 2)))


def test_what_pieces_share_is_named_if_it_ends_their_workers(engine: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"what piece 1 of .*squared shares with the others ended every worker"):
        list(engine.map(squared, Poison(), range(3)))


def test_a_cluster_without_workers_is_given_up(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "ABANDONED", 5.0)
    address, _, worker = scheduler
    with joined(address) as engine:
        results = engine.map(slow, None, range(100))
        assert next(results) == 0
        worker.kill()
        with pytest.raises(ClusterError, match=r"no workers for 5 seconds while piece \d+ of .*slow waited"):
            list(results)


class Told:
    """A cluster, and how often it was asked for what."""

    def __init__(self, engine: Cluster) -> None:
        self.engine, self.tasks = engine, Counter[str]()
        self.parts = engine.parts

    def map(self, task: Any, shared: Any, pieces: Any) -> Any:
        return self.engine.map(task, shared, self._counted(task, pieces))

    def exchange(self, split: Any, shared: Any, pieces: Any, merge: Any, bases: Any) -> Any:
        bases = self._counted(merge, bases)
        return self.engine.exchange(split, shared, self._counted(split, pieces), merge, bases)

    def _counted(self, task: Any, pieces: Any) -> list[Any]:
        pieces = list(pieces)
        self.tasks[task.__name__] += len(pieces)
        return pieces


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def training(hotel_files: Path, model: Path, engine: Any, **more: Any) -> dict[str, bytes]:
    """Train a small model, and return its files."""
    settings = camber.TrainSettings.from_dict({"lm": {"order": 3}, "tune": {"iterations": 2, "nbest": 20}})
    text = [hotel_files / side for side in ("train.es", "train.en")]
    dev: dict[str, Any] = {"dev_source": hotel_files / "dev.es", "dev_target": hotel_files / "dev.en"}
    camber.train(*text, model, settings=settings, engine=engine, **dev, **more)
    return contents(model)


def test_a_model_trained_on_a_cluster_is_the_same_bytes(
    engine: Cluster, hotel_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text, alignment, n-grams, phrases, tuning: on one thread, on two, in three processes.

    There, memory is so short that phrase pairs are sorted in files, and n-grams counted in parts.
    """
    monkeypatch.setattr("camber.lm.counting._PART", 3000)
    monkeypatch.setattr("camber.rules.phrase.pairs._BATCH", 100)
    monkeypatch.setattr("camber.pipeline.corpus._CHUNK", 100)
    monkeypatch.setattr("camber.memory.segments._CHUNK", 100)
    told = Told(engine)
    engines: dict[str, tuple[Any, str]] = {
        "one": (Threads(1), "1G"),
        "two": (Threads(2), "1G"),
        "three": (told, "500K"),
    }
    files = {
        name: training(hotel_files, tmp_path / name, where, memory=memory) for name, (where, memory) in engines.items()
    }
    assert files["one"] == files["two"] == files["three"]
    tasks = ("_forms", "_tokens", "_counted", "_added", "_best", "_repeats", "_occurrences", "_scored", "_split")
    assert {task: told.tasks[task] for task in tasks if told.tasks[task] < 3} == {}
    lines = list(read_lines(hotel_files / "test.es"))[:40]
    model = camber.load(tmp_path / "three")
    assert list(model.translate(lines, engine=engine)) == list(model.translate(lines, engine=Threads(1)))


def test_replicas_grids_folds_and_selections_are_the_same_on_a_cluster(
    engine: Cluster, hotel_files: Path, hotel_model: Path, tmp_path: Path
) -> None:
    small = [tmp_path / f"small.{side}" for side in ("es", "en")]
    for side, path in zip(("es", "en"), small, strict=True):
        write_lines(path, read_lines(hotel_files / f"train.{side}")[:80])
    dev = [hotel_files / f"dev.{side}" for side in ("es", "en")]
    settings = camber.TrainSettings.from_dict({"lm": {"order": 3}, "align": {"model": "quick"}})
    how: dict[str, Any] = {"iterations": 1, "nbest": 10, "tuner": "pro"}
    folds = FoldSettings(folds=2, rounds=1, nbest=5)

    def everything(name: str, where: Any) -> dict[str, Any]:
        folder = tmp_path / name
        folder.mkdir()
        camber.tune_model(hotel_model, *dev, settings={**how, "replicas": 2}, out=folder / "replicas", engine=where)
        bins: dict[str, Any] = {"settings": {**how, "bend": "bins", "cautious": False}, "grid": {"bits": [2, 3]}}
        bins |= {"hyper_source": hotel_files / "test.es", "hyper_target": hotel_files / "test.en"}
        camber.tune_model(hotel_model, *dev, **bins, out=folder / "grid", engine=where)
        camber.nbest_folds(*small, folder / "list.jsonl", settings=settings, folds=folds, engine=where)
        camber.select(*small, hotel_files / "test.es", count=10, out=folder / "selected", engine=where)
        return {path: data for path, data in contents(folder).items() if ".work" not in path}

    told = Told(engine)
    assert everything("here", Threads(1)) == everything("there", told)
    assert set(told.tasks) >= {"_decode_columns", "_select_block", "_counted", "_tokens"}


# --- what may happen to workers ---


def test_a_worker_that_dies_costs_time_and_no_result(engine: Cluster, tmp_path: Path) -> None:
    assert list(engine.map(dying_once, str(tmp_path), range(30))) == list(range(30))
    assert (tmp_path / "died").exists()
    assert list(engine.map(squared, 2, range(5))) == [0, 1, 4, 9, 16]  # what is shared is made anew


def test_a_training_whose_workers_die_gives_the_same_model(
    hotel_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("camber.progress.EVERY", 0.0)
    expected = training(hotel_files, tmp_path / "expected", Threads(2))
    killed: list[str] = []

    def kill_one(event: Event) -> None:
        for place in ("pass 2", "find phrases", "decode"):
            if event.name.startswith(place) and event.kind == "begin" and place not in killed:
                killed.append(place)
                os.kill(min(engine.client.run(os.getpid).values()), signal.SIGKILL)

    with Cluster.open("local:3") as engine:
        assert training(hotel_files, tmp_path / "made", engine, progress=kill_one) == expected
    assert killed == ["pass 2", "find phrases", "decode"]


def test_a_piece_that_ends_its_workers_is_named(engine: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"piece 2 of .*deadly ended every worker that tried it"):
        list(engine.map(deadly, None, range(3)))
    assert list(engine.map(squared, 3, range(4))) == [0, 1, 8, 27]


# --- a scheduler elsewhere ---


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """A scheduler and a worker, as their commands start them."""
    place = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    first = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(place)], **quiet,
    )  # fmt: skip
    second = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(place), "--nthreads", "1",
         "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(tmp_path)], **quiet,
    )  # fmt: skip
    try:
        for _ in range(600):
            if place.exists() and place.read_text():
                break
            time.sleep(0.1)
        import json

        yield json.loads(place.read_text())["address"], first, second
    finally:
        for process in (second, first):
            process.kill()
            process.wait()


def joined(address: str) -> Cluster:
    for _ in range(300):
        try:
            return Cluster.open(address)
        except ClusterError as error:
            if "no workers" not in str(error):
                raise
            time.sleep(0.1)
    raise AssertionError("no worker came")


def test_a_scheduler_that_is_lost_is_told(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask

    address, process, _ = scheduler
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}), joined(address) as engine:
        assert list(engine.map(squared, 2, range(5))) == [0, 1, 4, 9, 16]
        results = engine.map(slow, None, range(100))
        assert next(results) == 0
        process.kill()
        with pytest.raises(ClusterError, match=r"the cluster at .* was lost while .*run the same command"):
            list(results)


def test_a_training_whose_scheduler_is_lost_goes_on_where_it_was(
    scheduler: Any,
    hotel_files: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import dask

    monkeypatch.setattr("camber.progress.EVERY", 0.0)
    expected = training(hotel_files, tmp_path / "expected", Threads(2))
    address, process, _ = scheduler

    def kill(event: Event) -> None:
        if event.name.startswith("find phrases"):
            process.kill()

    how = {"distributed.comm.timeouts.connect": "2s"}
    with dask.config.set(how), joined(address) as engine, pytest.raises(ClusterError, match="was lost while"):
        training(hotel_files, tmp_path / "made", engine, progress=kill)
    assert not (tmp_path / "made").exists()
    with caplog.at_level("INFO", "camber"):
        assert training(hotel_files, tmp_path / "made", Threads(2)) == expected
    assert "align: unchanged, kept" in caplog.messages
    assert not any(message.startswith("rules: unchanged") for message in caplog.messages)


def test_what_a_cluster_must_have_is_told(scheduler: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    address, *_ = scheduler
    with joined(address):
        pass
    known = camber.__version__
    monkeypatch.setattr(camber, "__version__", "0.0.1")
    clusters._facts.cache_clear()
    with pytest.raises(ClusterError, match=rf"are not alike: Camber {known} there, 0\.0\.1 here"):
        Cluster.open(address)
    clusters._facts.cache_clear()


def test_addresses_that_lead_nowhere_are_told() -> None:
    for where in ("somewhere", "local:", "local:0", "local:x", "local:٣"):
        with pytest.raises(SettingsError, match="--cluster"):
            Cluster.open(where)
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:9"),
    ):
        Cluster.open("tcp://127.0.0.1:9")


def test_the_command_takes_a_cluster(hotel_model: Path, hotel_files: Path, tmp_path: Path) -> None:
    def run(*words: Any) -> Any:
        return CliRunner().invoke(cli, ["--quiet", "translate", str(hotel_model), *map(str, words)])

    text = "--input", hotel_files / "test.es", "--output"
    assert run(*text, tmp_path / "a", "--threads", 1).exit_code == 0
    done = run(*text, tmp_path / "b", "--cluster", "local:2")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    for words, told in (
        (("--cluster", "local:2", "--threads", 2), "exclude each other"),
        (("--cluster-folder", tmp_path), "without --cluster"),
    ):
        refused = run(*text, tmp_path / "c", *words)
        assert refused.exit_code == 2
        assert told in refused.output


# --- arrays that are not sent ---


def test_arrays_of_files_that_all_see_are_opened_there(engine: Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ARRAY)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c").view(np.ndarray)
    assert len(dumped(mapped, tmp_path.resolve())) < 1000 < len(dumped(mapped, None))
    assert len(dumped(ARRAY, tmp_path.resolve())) > ARRAY.nbytes  # only in memory
    for part in (mapped, mapped[LEAST : 3 * LEAST], mapped[: 2 * LEAST].reshape(-1, 16)):
        blob = dumped(part, tmp_path.resolve())
        assert len(blob) < 1000
        again = pickle.loads(blob)
        assert again.flags.writeable
        assert np.array_equal(again, part)
    assert mapped_from(mapped[::2], tmp_path.resolve()) is None
    assert mapped_from(mapped, tmp_path.resolve() / "other") is None
    pieces = [(0, LEAST), (LEAST, 2 * LEAST)]
    assert list(engine.map(summed, mapped, pieces)) == [summed(ARRAY, piece) for piece in pieces]


def test_a_file_that_was_replaced_is_not_taken_for_the_one_that_was_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ARRAY)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c").view(np.ndarray)
    blob = dumped(mapped, tmp_path.resolve())
    np.save(tmp_path / "b.npy", ARRAY[::-1].copy())
    (tmp_path / "b.npy").rename(tmp_path / "a.npy")
    assert np.array_equal(pickle.loads(dumped(mapped, tmp_path.resolve())), ARRAY)  # by value
    with pytest.raises(CamberError, match="is not the file that it is where work began"):
        pickle.loads(blob)
    (tmp_path / "a.npy").unlink()
    with pytest.raises(CamberError, match="every machine must see the folder under this name"):
        pickle.loads(blob)
