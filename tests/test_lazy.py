"""Packages that import what they offer when it is used."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = ("camber", "camber.tune", "camber.rerank")


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_that_a_package_offers_is_there(name: str) -> None:
    package = importlib.import_module(name)
    assert len(package.__all__) == len(set(package.__all__)) > 0
    assert set(package.__all__) <= set(dir(package))
    for offered in package.__all__:
        assert getattr(package, offered) is not None


@pytest.mark.parametrize("name", PACKAGES)
def test_another_name_is_an_attribute_error_that_says_where(name: str) -> None:
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = package.nothing
    with pytest.raises(ImportError, match="nothing"):
        exec(f"from {name} import nothing")


def test_importing_a_package_imports_no_kernels() -> None:
    code = f"import sys, {', '.join(PACKAGES)}; print([name for name in ('numba', 'numpy') if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "[]"
