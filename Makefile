# `make demo`, `make test` and `make docs` each set everything up by themselves.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test docs lint format bench mutate adversary clean

demo: $(VENV)/.runtime
	$(BIN)/camber demo --dir demo

test: $(VENV)/.test
	$(BIN)/ruff check camber tests benchmarks experiments docs
	$(BIN)/ruff format --check camber tests benchmarks experiments docs
	$(BIN)/mypy
	$(BIN)/python -m pytest -q

# The site is in build/site. What MkDocs warns of (a broken link, a page without a place) is an error; with --quiet it
# would not count its warnings.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "the site: build/site/index.html (its search wants a server: $(BIN)/python -m http.server -d build/site)"

format: $(VENV)/.test
	$(BIN)/ruff check --fix camber tests benchmarks experiments docs
	$(BIN)/ruff format camber tests benchmarks experiments docs

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,plots]'
	touch $@ $(VENV)/.runtime

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@ $(VENV)/.runtime

$(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,bench]'
	touch $@ $(VENV)/.runtime

# Every ratio goes into benchmarks.json; a second run names what became slower.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/all.py

# Hours on one core. What came out is in adversary.txt; SECONDS is for each reader, guided by coverage where atheris is.
SECONDS ?= 60
adversary: $(VENV)/.test
	rm -f adversary.txt
	CAMBER_ADVERSARY=all CAMBER_ADVERSARY_REPORT=adversary.txt $(BIN)/python -m pytest -q tests/adversary; \
		code=$$?; cat adversary.txt; exit $$code
	if $(BIN)/python -m pip install --quiet --disable-pip-version-check atheris; then \
		$(BIN)/python tests/adversary/fuzz.py --seconds $(SECONDS); else echo "no atheris here: readers are not fuzzed"; fi

mutate: $(VENV)/.test
	$(BIN)/python tests/mutation/mutate.py

clean:
	rm -rf $(VENV) demo
