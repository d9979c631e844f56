# make demo: the main job; make study: the report; make test: every test. Each sets up its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BOUNDS := tests/test_scalars.py::test_one_text_gives_the_same_numbers_on_every_scalar tests/test_oracle.py tests/test_retiming.py tests/test_trajectories.py
ISA := tests/test_lanes.py tests/test_oracle.py tests/test_identities.py tests/test_effects.py tests/test_trajectories.py
CORES := -n auto --dist loadfile
PLAIN_1 := tests/test_scalars.py tests/test_batch.py tests/test_quick.py tests/test_quantities.py tests/test_errors.py tests/test_parts.py tests/test_interrupt.py tests/test_limits.py tests/test_vary.py tests/test_closed_forms.py tests/test_helical.py tests/test_trajectories.py tests/test_controllers.py
PLAIN_2 := tests/test_identities.py tests/test_kinematics.py tests/test_coupling.py tests/test_coupling_calls.py tests/test_fleet.py tests/test_analytic_ik.py tests/test_inverse_kinematics.py tests/test_retiming.py

# a part of the asv suite: two quantities in each way, and inverse kinematics, a trajectory, memory, start-up
BENCHES := "'(inverse dynamics|jacobian)', 'puma560'|InverseKinematics|'trajectory'|Memory|Startup"

# instruction sets, by LLVM's name of a CPU that has them; the host's own has no name
CPU_sse2 := x86-64
CPU_avx2 := haswell
SETS := sse2 avx2 host

.PHONY: demo study test test-jit test-bounds test-python test-python-1 test-python-2 test-isa test-everywhere $(SETS:%=test-%) check lint bench limits compare asv-check asv-page clean

demo: $(VENV)/.demo
	$(BIN)/python -m fastdyn.demo demo

# every formulation counted and timed on this machine: study/index.html
study: $(VENV)/.demo
	$(BIN)/fastdyn study

# compiled on all cores, then the other modes side by side: three processes, so that two cores stay busy
test: test-jit
	$(MAKE) --jobs=3 test-bounds test-python

# compiled, as users run it
test-jit: $(VENV)/.dev
	$(BIN)/python -m pytest $(CORES)

# compiled with a check of every index: kernels trust their arguments, so this must find nothing
test-bounds: $(VENV)/.dev
	FASTDYN_TEST_ROWS=few NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest $(BOUNDS)

# in plain Python, where coverage can look into the kernels: two halves side by side
test-python: test-python-1 test-python-2
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include='fastdyn/kernels/*' --fail-under=100
	$(BIN)/python -m coverage report --include='fastdyn/calls/arguments.py,fastdyn/calls/task.py,fastdyn/calls/fleet.py,fastdyn/dynamics.py,fastdyn/kinematics.py,fastdyn/fleet.py,fastdyn/mechanism/*,fastdyn/robot.py' --fail-under=85

test-python-1 test-python-2: test-python-%: $(VENV)/.dev
	FASTDYN_TEST_ROWS=few NUMBA_DISABLE_JIT=1 COVERAGE_FILE=.coverage.$* $(BIN)/python -m coverage run -m pytest $(PLAIN_$*)

# compiled for an instruction set: all tests, or TESTS="..."; no features but the CPU's own, else Numba adds the host's
$(SETS:%=test-%): test-%: $(VENV)/.dev
	$(if $(CPU_$*),NUMBA_CPU_NAME=$(CPU_$*) NUMBA_CPU_FEATURES=) $(BIN)/python -m pytest $(CORES) $(TESTS)

# kernels for other instruction sets than the host's: SSE2 (no fused multiply-add), and AVX2 where the host has AVX-512
test-isa: $(VENV)/.dev
	[ "$$(uname -m)" != x86_64 ] || FASTDYN_TEST_ROWS=few $(MAKE) test-sse2 TESTS="$(ISA)"
	! grep -qs avx512f /proc/cpuinfo || FASTDYN_TEST_ROWS=few $(MAKE) test-avx2 TESTS="$(ISA)"

# by hand: the whole suite for each instruction set, and a table of results
test-everywhere: $(VENV)/.dev
	@mkdir -p build; for set in $(SETS); do $(MAKE) test-$$set > build/test-$$set.log 2>&1; done; \
	for set in $(SETS); do \
	    printf '%-6s %s\n' $$set "$$(grep -E ' in [0-9.]+s( |$$)' build/test-$$set.log | tail -n 1)"; \
	done; \
	! grep -lE '^make.*Error' $(SETS:%=build/test-%.log)

# while editing: style, types, imports, and what plain Python can tell in a minute
check: lint
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(CORES) tests/test_quantities.py tests/test_single.py tests/test_errors.py tests/test_parts.py tests/test_description.py tests/test_coupling.py tests/test_coupling_calls.py tests/test_helical.py tests/test_limits.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# this project and every peer that is installed, in one run: bench/index.html
bench: $(VENV)/.dev
	$(BIN)/fastdyn bench

# this version against another checkout: make compare OTHER=../other
compare: $(VENV)/.dev
	$(BIN)/python -m benchmarks.compare $(OTHER)

# how far kernels are from what the machine can do
limits: $(VENV)/.dev
	$(BIN)/python -m benchmarks.limits

# the benchmark suite still runs: a part of it, once; figures are not kept
asv-check: $(VENV)/.dev
	$(BIN)/asv machine --yes
	$(BIN)/asv check --environment existing:same
	$(BIN)/asv run --quick --environment existing:same --bench $(BENCHES)

# the same benchmarks of what is checked out, five repeats, kept in .asv/results under its commit, and all kept so far as
# pages in .asv/html; $(BIN)/asv preview serves them (their scripts come from the net)
asv-page: $(VENV)/.dev
	@git diff --quiet HEAD || { echo "asv-page: figures are kept under the commit: expected no uncommitted changes"; exit 1; }
	$(BIN)/asv machine --yes
	$(BIN)/asv run --environment existing:same --set-commit-hash "$$(git rev-parse HEAD)" --attribute rounds=1 --attribute repeat=5 --bench $(BENCHES)
	$(BIN)/asv publish

clean:
	rm -rf $(VENV) demo study bench build dist *.egg-info .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[study]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo
