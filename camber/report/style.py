"""The colours of pictures and pages, for light and dark screens."""

from __future__ import annotations

#: colours that tell phrases apart: as many as a reader can tell apart
PHRASE_COLOURS = 8

#: for light screens and for paper
LIGHT = {
    "ink": "#1b2430", "soft": "#5a6779", "line": "#d8dfe8", "paper": "#ffffff", "panel": "#f5f7fa",
    "accent": "#2463a6", "other": "#b8591b", "good": "#1f7a4d", "bad": "#b3352c",
    "p0": "#2463a6", "p1": "#b8591b", "p2": "#1f7a4d", "p3": "#8a3fa0",
    "p4": "#a17a00", "p5": "#0f7f8c", "p6": "#b3356b", "p7": "#5d5bb5",
}  # fmt: skip

_DARK = {
    "ink": "#e4e9f0", "soft": "#97a4b6", "line": "#2d3745", "paper": "#10151c", "panel": "#171e27",
    "accent": "#6aaaf0", "other": "#ee9a5c", "good": "#5cc08d", "bad": "#f08078",
    "p0": "#6aaaf0", "p1": "#ee9a5c", "p2": "#5cc08d", "p3": "#c98bdc",
    "p4": "#d9b545", "p5": "#4dc0cd", "p6": "#ee80ab", "p7": "#a09ef0",
}  # fmt: skip

#: for all pictures; the names are those that `pictures` uses
_PICTURE = """
svg text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;fill:var(--ink)}
svg .small{font-size:12px}
svg .soft{fill:var(--soft)}
svg .word{font-size:14px}
svg .line{stroke:var(--line);fill:none;stroke-width:1}
svg .axis{stroke:var(--soft);fill:none;stroke-width:1}
svg .bar{fill:var(--accent)}
svg .bar.other{fill:var(--other)}
svg .bar.bad{fill:var(--bad)}
svg .tick{stroke:var(--ink);stroke-width:2}
svg .curve{fill:none;stroke:var(--accent);stroke-width:2.5;stroke-linejoin:round}
svg .curve.other{stroke:var(--other);stroke-dasharray:6 4}
svg .series{fill:none;stroke:var(--c);stroke-width:2.2;stroke-linejoin:round}
svg .point,svg .kept{fill:var(--c)}
svg .kept{stroke:var(--ink);stroke-width:1.5}
svg .whisker{stroke:var(--accent);stroke-width:2}
svg .dot{fill:var(--accent)}
svg .box{fill:var(--c);fill-opacity:.16;stroke:var(--c);stroke-width:1.3}
svg .ribbon{fill:var(--c);fill-opacity:.22;stroke:none}
svg .part:hover .ribbon{fill-opacity:.5}
svg .part:hover .box{fill-opacity:.32}
svg .cell{fill:var(--accent)}
svg .shade{fill:var(--soft);fill-opacity:.1}
"""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


def picture_style() -> str:
    """Return the style sheet that the pictures need, wherever they stand."""
    phrases = "".join(f".p{k}{{--c:var(--p{k})}}" for k in range(PHRASE_COLOURS))
    return (
        f":root{{{_variables(LIGHT)}color-scheme:light dark}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{_variables(_DARK)}}}}}\n{phrases}{_PICTURE}"
    )


PAGE_STYLE = """
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;
 font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:2.5rem 1.5rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.015em}
h2{font-size:1.25rem;margin:3rem 0 .4rem;padding-top:1.1rem;border-top:1px solid var(--line);letter-spacing:-.01em}
h3{font-size:1rem;margin:1.6rem 0 .4rem}
p{margin:.3rem 0 .9rem;max-width:46rem}
.lead,.note,figcaption{color:var(--soft)}
.note,figcaption{font-size:.87rem}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:.8rem;margin:1.5rem 0 .8rem}
.card{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem}
.card b{display:block;font-size:1.65rem;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}
.card span{font-size:.82rem;color:var(--soft)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr));gap:1.2rem}
figure{margin:1rem 0;background:var(--panel);border:1px solid var(--line);border-radius:10px;
 padding:1rem 1rem .7rem;overflow-x:auto;width:fit-content;max-width:100%}
.pair figure{width:auto}
.flow{display:flex;flex-wrap:wrap;align-items:start;gap:1rem;margin:1rem 0}
.flow figure{flex:0 1 auto;margin:0;max-width:100%}
figcaption{margin-top:.5rem}
figcaption b{color:var(--ink);font-weight:550}
svg{display:block;max-width:100%;height:auto}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%}
th{font-weight:600;color:var(--soft);text-align:left;font-size:.8rem;white-space:nowrap}
th,td{padding:.36rem .7rem .36rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;padding-left:.35rem;white-space:nowrap}
table.wide{font-size:.8rem}
table.wide th{font-size:.74rem}
table.wide td.n,table.wide th.n{padding-right:.2rem;padding-left:.25rem}
tr.total td{font-weight:650}
table.narrow{width:auto;min-width:22rem}
td.phrase{min-width:16rem}
ins,del{color:var(--ink);text-decoration:none;border-radius:3px;padding:0 .15em}
ins{background:color-mix(in srgb,var(--good) 22%,transparent);text-decoration:underline}
del{background:color-mix(in srgb,var(--bad) 22%,transparent)}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.82rem}
.note code{overflow-wrap:anywhere}
.note code+code{display:block}
@media(max-width:700px){main{padding:1.5rem 1rem 3rem}.legend{overflow-x:auto}figure svg,.legend svg{max-width:none}}
@media print{main{max-width:none}figure,.card{break-inside:avoid}}
"""
