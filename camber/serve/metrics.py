"""Counts and durations of a server, in the text format that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence

#: seconds
DURATIONS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters, histograms and gauges by name and labels; threads may share one.

    >>> metrics = Metrics()
    >>> metrics.count("camber_requests_total", "Requests.", path="/translate")
    >>> print(metrics.exposition())
    # HELP camber_requests_total Requests.
    # TYPE camber_requests_total counter
    camber_requests_total{path="/translate"} 1
    <BLANKLINE>
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kinds: dict[str, tuple[str, str]] = {}  # name → kind, help
        self._counts: dict[str, dict[Labels, float]] = {}
        self._histograms: dict[str, dict[Labels, _Histogram]] = {}
        self._gauges: dict[str, Callable[[], float]] = {}

    def count(self, name: str, help: str, by: float = 1, /, **labels: str) -> None:
        """Add to a counter."""
        with self._lock:
            self._kinds.setdefault(name, ("counter", help))
            values = self._counts.setdefault(name, {})
            key = tuple(sorted(labels.items()))
            values[key] = values.get(key, 0) + by

    def observe(
        self, name: str, help: str, value: float, bounds: Sequence[float] = DURATIONS, /, **labels: str
    ) -> None:
        """Put a value into a histogram."""
        with self._lock:
            self._kinds.setdefault(name, ("histogram", help))
            values = self._histograms.setdefault(name, {})
            values.setdefault(tuple(sorted(labels.items())), _Histogram(bounds)).add(value)

    def gauge(self, name: str, help: str, value: Callable[[], float]) -> None:
        """Let a value be asked for whenever it is told."""
        self._kinds.setdefault(name, ("gauge", help))
        self._gauges[name] = value

    def total(self, name: str, **labels: str) -> float:
        """Return a counter."""
        return self._counts.get(name, {}).get(tuple(sorted(labels.items())), 0)

    def exposition(self) -> str:
        """Return everything as text."""
        lines = []
        with self._lock:
            for name, (kind, help) in sorted(self._kinds.items()):
                lines += [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
                if kind == "gauge":
                    lines.append(f"{name} {self._gauges[name]():g}")
                for labels, number in sorted(self._counts.get(name, {}).items()):
                    lines.append(f"{name}{_written(labels)} {number:.15g}")
                for labels, histogram in sorted(self._histograms.get(name, {}).items(), key=lambda item: item[0]):
                    lines += histogram.lines(name, labels)
        return "\n".join(lines) + "\n"


class _Histogram:
    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds, self.counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: Labels) -> list[str]:
        lines, total = [], 0
        for bound, count in zip([*self.bounds, float("inf")], self.counts, strict=True):
            total += count
            shown = "+Inf" if bound == float("inf") else f"{bound:g}"
            lines.append(f"{name}_bucket{_written((*labels, ('le', shown)))} {total}")
        return [*lines, f"{name}_sum{_written(labels)} {self.sum:g}", f"{name}_count{_written(labels)} {total}"]


def _written(labels: Labels) -> str:
    escaped = ((key, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for key, value in labels)
    inside = ",".join(f'{key}="{value}"' for key, value in escaped)
    return f"{{{inside}}}" if inside else ""
