# surefoot: every target sets up what it needs by itself, in .venv (and .bench-venv for the peers).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ALONE := $(VENV)/.alone
BENCH := .bench-venv
JOBS ?= 2
# Arrays here are small: one thread per process is faster, and two processes then use two cores.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Tests start many programs: what is compiled once is not compiled by each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test end-to-end quick check style types slow coverage referee mutants bench reproduce docs designs sequential-table package changelog format lock clean

help:  ## Show this list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1	/' | expand -t 20

demo: $(ALONE)  ## Run an example analysis on bundled data: prints the table and names the page it wrote.
	@$(BIN)/surefoot demo

test: $(READY)  ## The tests of every module, and every example in the docstrings.
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --doctest-modules src tests

end-to-end: $(READY)  ## The program as people meet it: in a browser, killed, page by page of the docs, as an Action.
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "end_to_end and not slow" tests

quick: $(READY)  ## The tests of what you changed, and of the tree, in under half a minute (ARGS="stats/rates.py core": of these).
	@$(BIN)/python tools/quick.py $(ARGS)

check: $(READY)  ## Style, types, layers, docs: types and docs take as long as each other, so they are checked at once.
	@$(MAKE) --no-print-directory -j $(JOBS) style types docs

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

slow: $(READY)  ## The long statistical proofs, the cases that `make test` leaves out, and laws on more examples.
	$(BIN)/python -m pytest -n $(JOBS) -m slow tests
	$(BIN)/python -m pytest -n $(JOBS) -m hypothesis --hypothesis-profile long tests

coverage: $(READY)  ## Branches taken by `make test` and `make end-to-end`, room by room; fails where a room has fewer than 95%.
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" --cov --cov-report= --doctest-modules src tests
	$(BIN)/python tools/covered.py

referee: $(READY)  ## False verdicts over many shapes of files, from a file to the answer (20 minutes on 2 cores; ARGS="--tables 100": less).
	$(BIN)/python tools/referee.py --processes $(JOBS) --page docs/referee.md $(ARGS)

mutants: $(READY)  ## Would the tests notice a mistake? 200 of them, one by one, in a copy of the tree (an hour or so; ARGS="--seed 2": others).
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv venv -q --allow-existing .mutants-venv
	$(BIN)/uv pip install -q --python .mutants-venv/bin/python --group mutation
	.mutants-venv/bin/python tools/mutants.py $(ARGS)

bench: $(BENCH)/.ready  ## Every claim of speed and efficiency beside the peers; writes benchmarks/RESULTS.md.
	$(BENCH)/bin/python -m benchmarks

reproduce: $(READY)  ## Every number that the seed documents print, recomputed; writes docs/reproductions (two minutes).
	$(BIN)/python -m reproductions

docs: $(READY)  ## The site, in docs/_build/html; fails when the docs lag behind the code.
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

designs: $(READY)  ## Make the shipped exact designs anew (an hour or so).
	$(BIN)/python tools/build_designs.py

sequential-table: $(READY)  ## The sequential rules on the same draws, in benchmarks/RESULTS.md.
	$(BIN)/python -m benchmarks.sequential_table

package: $(READY)  ## Wheel and sdist in dist/, tried in clean environments: every extra, the core alone (HOW=smoke: briefly).
	$(BIN)/python -m pip install -q --disable-pip-version-check uv
	JOBS=$(JOBS) $(BIN)/python tools/package.py $(HOW)

changelog: $(READY)  ## Gather changelog.d/ into CHANGELOG.md under the version of the package.
	$(BIN)/python tools/changelog.py

format: $(READY)  ## Format and fix what can be fixed.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(READY)  ## Pin the newest versions that pyproject.toml allows.
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv pip compile pyproject.toml --extra console --extra postgres --extra cluster --extra yaml --extra seal --extra gymnasium \
		--group test --group check --group docs --universal --python-version 3.11 --no-annotate --no-header \
		--generate-hashes --upgrade -q -o requirements/lock.txt
	$(BIN)/uv pip compile pyproject.toml -c requirements/lock.txt --universal --python-version 3.11 --no-annotate --no-header \
		--generate-hashes --upgrade -q -o requirements/lock-package.txt

clean:  ## Remove environments, caches and built pages.
	rm -rf $(VENV) $(BENCH) .mutants .mutants-venv docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build

# An environment is made with uv when it is there, with venv and pip otherwise; what lock.txt names must have its hash.
# It names all that is needed, so nothing else is looked for: pip would want a hash for extras such as coverage[toml].
define install
	@echo "Setting up $(1) ..."
	@if command -v uv >/dev/null 2>&1; then \
		uv venv -q --allow-existing --seed $(1) && \
		$(foreach file,$(2),uv pip install -q --python $(1)/bin/python $(if $(findstring lock,$(file)),--no-deps) -r $(file) && )\
		uv pip install -q --python $(1)/bin/python --no-deps -e . ; \
	else \
		$(PYTHON) -m venv $(1) && \
		$(foreach file,$(2),$(1)/bin/python -m pip install -q --disable-pip-version-check $(if $(findstring lock,$(file)),--no-deps) -r $(file) && )\
		$(1)/bin/python -m pip install -q --disable-pip-version-check --no-deps -e . ; \
	fi
endef

# The version stands in the package itself, and what is installed must say the same.
$(READY): pyproject.toml requirements/lock.txt src/surefoot/__init__.py
	$(call install,$(VENV),requirements/lock.txt)
	@touch $@

# The package and what it needs, without the tools that test it; nothing to do where those are.
$(ALONE): pyproject.toml requirements/lock-package.txt src/surefoot/__init__.py
	$(if $(wildcard $(READY)),,$(call install,$(VENV),requirements/lock-package.txt))
	@touch $@

$(BENCH)/.ready: pyproject.toml requirements/lock.txt requirements/bench.txt requirements/bench-apart.txt
	$(call install,$(BENCH),requirements/lock.txt requirements/bench.txt)
	-$(BENCH)/bin/python -m pip install -q --disable-pip-version-check --no-deps -r requirements/bench-apart.txt
	@touch $@
