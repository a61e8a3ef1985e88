"""Results of `camber.metrics.compare` as tables: for people, and for papers."""

from __future__ import annotations

from camber.metrics.compare import Result
from camber.metrics.outside import digits_of


def text_table(results: list[Result]) -> list[str]:
    """Lay out the results: a block per metric, its signature below."""
    lines: list[str] = []
    width = max(len(result.system) for result in results)
    compared = any(result.difference is not None for result in results)
    several = any(result.runs > 1 for result in results)
    for metric in dict.fromkeys(result.metric for result in results):
        block = [result for result in results if result.metric == metric]
        spread = f"  {'runs':>4}  {'sd runs':>7}  {'sd test':>7}" if several else ""
        head = f"{'':{width}}  {metric:>8}{spread}  {'95 % interval':>15}"
        if compared:
            head += f"  {'difference':>10}  {'p bootstrap':>11}  {'p random.':>9}  {'p Wilcoxon':>10}"
        lines.append(head)
        for result in block:
            digits = digits_of(result.signature)
            line = f"{result.system:{width}}  {result.score:8.{digits}f}"
            if several:
                spreads = (_number(sd, digits) for sd in (result.run_sd, result.test_sd))
                line += f"  {result.runs:4d}" + "".join(f"  {text:>7}" for text in spreads)
            line += f"  {result.low:6.{digits}f} … {result.high:6.{digits}f}"
            if result.difference is not None:
                line += (
                    f"  {result.difference:+10.{digits}f}  {result.bootstrap_p:11.4f}  {result.randomisation_p:9.4f}"
                )
                line += f"  {result.wilcoxon_p:10.4f}"
            lines.append(line)
        lines += [f"{metric}|{block[-1].signature}", ""]
    return lines[:-1]


def _number(value: float | None, digits: int, absent: str = "–") -> str:
    return absent if value is None else f"{value:.{digits}f}"


_ESCAPES = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def latex_table(results: list[Result]) -> list[str]:
    """Lay out the results as a LaTeX table: a row per system, signatures as comments."""
    metrics = list(dict.fromkeys(result.metric for result in results))
    systems = list(dict.fromkeys(result.system for result in results))
    several = any(result.runs > 1 for result in results)
    by_name = {(result.metric, result.system): result for result in results}
    titles = ["score", *(["$s_{\\mathrm{runs}}$"] if several else []), "$s_{\\mathrm{test}}$", "$p$"]
    lines = [f"% {metric}|{by_name[metric, systems[-1]].signature}" for metric in metrics]
    lines += [f"\\begin{{tabular}}{{l{'r' * len(titles) * len(metrics)}}}", "\\hline"]
    heads = [f"\\multicolumn{{{len(titles)}}}{{c}}{{{metric.translate(_ESCAPES)}}}" for metric in metrics]
    lines += [" & ".join(["", *heads]) + " \\\\", " & ".join(["", *(titles * len(metrics))]) + " \\\\", "\\hline"]
    for system in systems:
        cells = [system.translate(_ESCAPES)]
        for metric in metrics:
            result = by_name[metric, system]
            digits = digits_of(result.signature)
            cells.append(_number(result.score, digits))
            cells += [_number(result.run_sd, digits, "--")] if several else []
            cells.append(_number(result.test_sd, digits, "--"))
            cells.append("--" if result.randomisation_p is None else _p(result.randomisation_p))
        lines.append(" & ".join(cells) + " \\\\")
    return [*lines, "\\hline", "\\end{tabular}"]


def _p(value: float) -> str:
    return "$<$0.001" if value < 0.001 else f"{value:.3f}"
