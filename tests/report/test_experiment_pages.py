"""Pages of experiments: all that their README says, and nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from report.test_report_page import parse

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
NAMES = sorted(path.parent.name for path in EXPERIMENTS.glob("*/README.md"))


@pytest.fixture(scope="module")
def report() -> Any:
    spec = importlib.util.spec_from_file_location("experiments_report", EXPERIMENTS / "report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_words_of_the_readme_and_its_pictures_inside(report: Any, name: str, tmp_path: Path) -> None:
    page = report.write_report(EXPERIMENTS / name, tmp_path / "a.html").read_text("utf-8")
    checker = parse(page)
    assert not checker.tags & {"script", "link", "iframe", "a"}
    assert all(value.startswith("data:image/svg+xml") for key, value in checker.attributes if key == "src")
    readme = (EXPERIMENTS / name / "README.md").read_text("utf-8")
    readme = re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<!--.*?-->|</?\w+>", " ", readme)
    shown = set(re.findall(r"\w+", " ".join(checker.text)))
    assert not set(re.findall(r"\w+", readme)) - shown
    pictures = set(re.findall(r"\(([\w.]+\.svg)\)", (EXPERIMENTS / name / "README.md").read_text("utf-8")))
    assert sum(key == "src" for key, _ in checker.attributes) >= len(pictures)


def test_items_are_a_list_and_go_on_over_lines(report: Any, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A\n\n- one\n  more\n- **two**\n\nText.\n\n1. first\n2. second\n")
    page = report.write_report(tmp_path).read_text("utf-8")
    assert "<ul><li>one more</li><li><b>two</b></li></ul><p>Text.</p><ol><li>first</li><li>second</li></ol>" in page


def test_means_with_deviations_become_error_bars(report: Any, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "# A\n\n| row | dev | test |\n|---|---|---|\n| **x** | 1 | 40.50 ± 0.25 |\n| `y` | 2 | **41.00 ± 0.50** |\n"
    )
    page = report.write_report(tmp_path).read_text("utf-8")
    assert page.count("<svg") == 1
    assert "x: 40.50 (40.25 to 40.75)" in page
    assert "y: 41.00 (40.50 to 41.50)" in page
