"""What a training of more text than was measured would take, on one machine and on several: an estimate on paper.

    python benchmarks/estimate.py --scale scale.json --shares shares.json --pairs 100000000 --machines 20 --cores 8

`scale.py` measured what each stage takes at several sizes: the two largest tell how it grows. `shares.py` measured how
much of it tasks do, which workers can, and how much travels. What tasks do is divided by all cores; what the command
does by itself is not; what travels goes through the network of the command, but for what goes from worker to worker.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

STAGES = ("corpus", "align", "lm", "rules", "memory")


class Estimate(NamedTuple):
    """What a stage would take."""

    exponent: float  # CPU time grows with this power of the number of pairs
    cpu: float  # CPU-seconds in all
    tasks: float  # share of them that workers can do
    travels: float  # GB through the command's network
    between: float  # GB between workers
    seconds: float  # on several machines


def grown(first: dict[str, Any], second: dict[str, Any], stage: str, key: str, pairs: int) -> tuple[float, float]:
    """Return with which power of the size a figure grows (at least the first, from here), and what `pairs` take."""
    sizes = [size["pairs"] for size in (first, second)]
    figures = [max(size["stages"][stage][key], 1e-3) for size in (first, second)]
    exponent = math.log(figures[1] / figures[0]) / math.log(sizes[1] / sizes[0])
    return exponent, figures[1] * (pairs / sizes[1]) ** max(exponent, 1.0)


def estimate(
    sizes: list[dict[str, Any]], shares: dict[str, Any], stage: str, pairs: int, cores: int, gigabytes: float
) -> Estimate:
    """Estimate a stage; the network carries so many gigabytes a second."""
    exponent, cpu = grown(*sizes[-2:], stage, "cpu", pairs)
    share, machines = shares["stages"][stage], shares["machines"]
    factor = pairs / shares["pairs"] / 1e9
    tasks = share["tasks"] / (share["tasks"] + share["command"])
    travels = (share["shared"] + share["sent"] + share["back"]) * factor
    between = (share["between"] + share["shared"] * (machines - 1)) * factor  # what is shared is passed on
    seconds = cpu * tasks / (machines * cores) + cpu * (1 - tasks) + (travels + between / machines) / gigabytes
    return Estimate(exponent, cpu, tasks, travels, between, seconds)


def clock(seconds: float) -> str:
    """Write seconds as hours and minutes."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=Path, default=Path("scale.json"))
    parser.add_argument("--shares", type=Path, default=Path("shares.json"))
    parser.add_argument("--pairs", type=int, default=100_000_000)
    parser.add_argument("--cores", type=int, default=8, help="of each machine")
    parser.add_argument("--gigabytes", type=float, default=1.0, help="that the network carries a second")
    args = parser.parse_args()
    sizes = sorted(json.loads(args.scale.read_text()).values(), key=lambda size: size["pairs"])
    shares = json.loads(args.shares.read_text())
    machines = shares["machines"]
    print(f"{args.pairs:,} pairs; {machines} machines of {args.cores} cores, {args.gigabytes:g} GB/s")
    print("| stage | grows with | CPU hours | by workers | GB through the command | GB between workers |"
          " one core | one machine | all machines |")  # fmt: skip
    print("|---|" + "---|" * 8)
    totals = [0.0, 0.0, 0.0]
    for stage in STAGES:
        it = estimate(sizes, shares, stage, args.pairs, args.cores, args.gigabytes)
        one = it.cpu * it.tasks / args.cores + it.cpu * (1 - it.tasks)
        totals = [total + value for total, value in zip(totals, (it.cpu, one, it.seconds), strict=True)]
        print(
            f"| {stage} | n^{it.exponent:.2f} | {it.cpu / 3600:.1f} | {it.tasks:.0%} | {it.travels:,.0f} | "
            f"{it.between:,.0f} | {clock(it.cpu)} | {clock(one)} | {clock(it.seconds)} |"
        )
    print("| all | | | | | | " + " | ".join(map(clock, totals)) + " |")


if __name__ == "__main__":
    main()
