#!/usr/bin/env python3
"""A server under load on this machine: latency, throughput against `camber translate`, start, and memory.

    python benchmarks/serve.py [--model MODEL] [--data ../shared] [--requests 400] [--threads 2]

Requests are single sentences of about 20 words, French to English, none twice, and nothing is remembered. Clients are
in one process, each with a connection of its own that asks again as soon as it is answered. Without --model, one is
trained on all of tatoeba-fr-en (158,000 pairs; some minutes).

Other work on the machine makes all of this slower. So CPU seconds of the server are told too, and what share of the
cores the benchmark could have had while it ran: that of as many busy loops, before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from figures import note

from camber.files import read_lines, write_lines

COMMAND = [sys.executable, "-c", "from camber.cli import main; main()"]
#: seconds that any run of clients may take
LONGEST = 120


def sentences(data: Path, count: int) -> list[str]:
    """Return different sentences of 18 to 22 words: of Tatoeba, as many as there are, then of the Python manual."""
    found: dict[str, None] = {}
    for name in (
        "tatoeba-fr-en/test.fr",
        "tatoeba-fr-en/dev.fr",
        "pythondocs-fr-en/test.fr",
        "pythondocs-fr-en/dev.fr",
    ):
        found |= dict.fromkeys(line for line in read_lines(data / "data" / name) if 18 <= len(line.split()) <= 22)
    return list(found)[:count]


def free_share(cores: int, seconds: float = 1.0) -> float:
    """Return the share of so many cores that busy processes get now."""
    loop = f"import time\nend = time.perf_counter() + {seconds}\nwhile time.perf_counter() < end: pass\n"
    busy = [
        subprocess.Popen([sys.executable, "-c", loop + "print(time.process_time())"], stdout=subprocess.PIPE)
        for _ in range(cores)
    ]
    return min(1.0, sum(float(one.communicate()[0]) for one in busy) / (cores * seconds))


class Server:
    """A server in a process of its own."""

    def __init__(self, *arguments: str | int | Path) -> None:
        self.begin = time.perf_counter()
        self.process = subprocess.Popen(
            [*COMMAND, "serve", *map(str, arguments), "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if match := re.search(r"serving on http://[\d.]+:(\d+)", line):
                self.port = int(match[1])
                break
        else:
            raise SystemExit("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def cpu(self) -> float:
        """Return the CPU seconds that the process took up to now."""
        user, system = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> dict[str, float]:
        """Return megabytes: the most there ever was in memory, and what of that is the process's own."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return {key: int(value) / 1024 for key, value in re.findall(r"(VmHWM|RssAnon|RssFile):\s+(\d+) kB", status)}

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


@contextmanager
def serving(model: Path, threads: int) -> Iterator[Server]:
    """Run a server for as long as the block takes."""
    server = Server(model, "--threads", threads, "--cache", 0)
    try:
        yield server
    finally:
        server.stop()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> str:
    """Send one request over a connection that stays open, and return the translation."""
    body = json.dumps({"q": text, "source": "fr", "target": "en"}).encode()
    head = (
        f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    writer.write(head.encode() + b"\r\n\r\n" + body)
    told = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", told, re.IGNORECASE)[1])  # type: ignore[index]
    content = json.loads(await reader.readexactly(length))
    if not told.startswith(b"HTTP/1.1 200"):
        raise SystemExit(f"refused: {content}")
    return str(content["translatedText"])


async def load(port: int, texts: Sequence[str], clients: int) -> tuple[list[float], float]:
    """Let clients ask for all texts; return the seconds of each request, and of all."""
    waiting, took = iter(texts), []

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for text in waiting:
            begin = time.perf_counter()
            await ask(reader, writer, text)
            took.append(time.perf_counter() - begin)
        writer.close()

    begin = time.perf_counter()
    await asyncio.wait_for(asyncio.gather(*(one() for _ in range(clients))), LONGEST)
    return took, time.perf_counter() - begin


def translate(model: Path, texts: Sequence[str], threads: int, folder: Path) -> tuple[float, float]:
    """Return the wall and CPU seconds of `camber translate`."""
    write_lines(folder / "in", texts)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [*COMMAND, "--quiet", "translate", str(model), "--threads", str(threads), "--input", str(folder / "in")]
    subprocess.run([*command, "--output", str(folder / "out")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, cpu


def verdict(value: float, bar: float, *, most: bool = True) -> str:
    """Say whether a bar was met."""
    return "ok" if (value <= bar if most else value >= bar) else "falls short"


def measure(model: Path, data: Path, count: int, threads: int, folder: Path) -> None:
    """Measure everything and print it."""
    texts = sentences(data, count)
    words = statistics.mean(len(text.split()) for text in texts)
    print(f"{model}: {len(texts)} sentences of {words:.1f} words; load {os.getloadavg()[0]:.1f}")
    shares = [free_share(threads)]
    with serving(model, threads) as server:  # compiles what is not compiled
        asyncio.run(load(server.port, texts[:4], 1))
    starts, cpus = [], []
    for _ in range(3):
        with serving(model, threads) as server:
            asyncio.run(load(server.port, texts[:1], 1))
            starts.append(time.perf_counter() - server.begin)
            cpus.append(server.cpu())
    first = min(starts)
    print(
        f"start to first answer: {first:.2f} s, the best of 3 (bar 2: {verdict(first, 2.0)}), worst {max(starts):.2f}; "
        f"{min(cpus):.2f} CPU-s"
    )
    with serving(model, threads) as server:
        asyncio.run(load(server.port, texts[:20], 4))
        shares.append(free_share(threads))
        cpu = server.cpu()
        took, wall = asyncio.run(load(server.port, texts, 4))
        cpu = server.cpu() - cpu
        took.sort()
        late = took[int(0.95 * len(took))]
        print(
            f"4 clients: median {1000 * statistics.median(took):.0f} ms, 95 % within {1000 * late:.0f} ms "
            f"(bar 150: {verdict(late, 0.15)}), most {1000 * took[-1]:.0f} ms; {len(took) / wall:.0f} a second, "
            f"{1000 * cpu / len(took):.1f} CPU-ms a request"
        )
        note("a request of 4 clients, CPU-ms", 1000 * cpu / len(took), more_is_better=False)
        rates, costs, alone, alone_cost = [], [], [], []
        for _ in range(3):  # in turns: whatever else runs here disturbs both
            cpu = server.cpu()
            _, wall = asyncio.run(load(server.port, texts, 16))
            rates.append(len(texts) / wall)
            costs.append((server.cpu() - cpu) / len(texts))
            start = translate(model, texts[:1], threads, folder)
            whole = translate(model, texts, threads, folder)
            alone.append((len(texts) - 1) / max(whole[0] - start[0], 1e-3))
            alone_cost.append((whole[1] - start[1]) / (len(texts) - 1))
        ratio = statistics.median(rates) / statistics.median(alone)
        print(
            f"16 clients: {statistics.median(rates):.0f} a second, {1000 * min(costs):.1f} CPU-ms a request; "
            f"camber translate {statistics.median(alone):.0f} a second (without its start), "
            f"{1000 * min(alone_cost):.1f} CPU-ms: {ratio:.0%} (bar 80 %: {verdict(ratio, 0.8, most=False)})"
        )
        note("start to first answer, CPU-s", min(cpus), more_is_better=False)
        note("16 clients, times camber translate", ratio)
        memory = server.memory()
        note("memory, MB", memory["VmHWM"], more_is_better=False)
        print(
            f"memory: {memory['VmHWM']:.0f} MB at most (bar 500: {verdict(memory['VmHWM'], 500)}), of which "
            f"{memory['RssAnon']:.0f} MB its own and {memory['RssFile']:.0f} MB pages of files"
        )
    shares.append(free_share(threads))
    told = ", ".join(f"{share:.0%}" for share in shares)
    print(f"share of {threads} cores that busy processes got before, between and after: {told}")


def main() -> None:
    """Measure one model."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--model", type=Path, help="a French-English model")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    corpus = options.data / "data" / "tatoeba-fr-en"
    if not corpus.is_dir():
        sys.exit(f"no {corpus}; give the folder of the data with --data")
    with tempfile.TemporaryDirectory() as folder:
        model = options.model
        if model is None:
            from camber.pipeline.settings import TrainSettings
            from camber.pipeline.train import train

            model = Path(folder) / "model"
            settings = TrainSettings.from_dict({"text": {"source_lang": "fr", "target_lang": "en"}})
            train(corpus / "train.fr", corpus / "train.en", model, settings=settings, tuned=False, keep_work=False)
        measure(model, options.data, options.requests, options.threads, Path(folder))


if __name__ == "__main__":
    main()
