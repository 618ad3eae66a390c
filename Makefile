# Each target does all of its own set-up and is safe to repeat.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# The last TensorFlow with tf.estimator, and the last Python that it knows.
VENV215 := .venv215
BIN215 := $(VENV215)/bin
STAMP215 := $(VENV215)/.ready
# What builds and checks the page; using tdbg needs none of it, for the built page is part of it.
NODE_STAMP := webui/node_modules/.ready
export TF_CPP_MIN_LOG_LEVEL ?= 3

# Errors only: the warnings of pip are about indexes and the root user, and all goes into .venv.
PIP := -qq --disable-pip-version-check --root-user-action=ignore

.PHONY: demo test terminal test-onednn test-tf215 lint web page-tools browser bench clean

# Tests use exactly the locked versions; the package itself is installed in place, with its C extension.
$(STAMP): requirements/test.txt pyproject.toml setup.py \
		$(wildcard $(foreach kind,c h,src/tdbg/native/*/*.$(kind) src/tdbg/frameworks/*/native/*.$(kind)))
	@echo "setting up $(VENV): a minute or two"
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "tdbg needs Python 3.11 or newer: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install $(PIP) -r requirements/test.txt
	@$(BIN)/python -m pip install $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(STAMP215): requirements/tf215.txt $(STAMP)
	@echo "setting up $(VENV215): TensorFlow 2.15"
	@test -x $(BIN215)/python || $(BIN)/python -m venv $(VENV215)
	@$(BIN215)/python -m pip install $(PIP) --no-deps -r requirements/tf215.txt
	@$(BIN215)/python -m pip install $(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# Not npm ci: it wants the packages of all platforms in the lock, and not every registry has them. The lock is kept.
$(NODE_STAMP): webui/package-lock.json
	@cd webui && npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@

# The page, from webui/ into the package. The types of what the server answers are made of the API's description.
web: $(STAMP) $(NODE_STAMP)
	$(BIN)/python -m tdbg.web.typescript webui/src/server
	cd webui && npm run check && npm run build

# The tests look at the page in Chromium, which Debian and its kin have as a package.
BROWSER := chromium
browser:
	@if (command -v chromium || command -v chromium-browser || command -v google-chrome || command -v chrome) > /dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get install -qy --no-install-recommends $(BROWSER) || { apt-get update -q && apt-get install -qy --no-install-recommends $(BROWSER); }; } \
		|| echo "Chromium could not be installed: the tests that look at the page in a browser are skipped"; \
	else echo "no Chromium: the tests that look at the page in a browser are skipped; to have them: sudo apt-get install $(BROWSER)"; fi

page-tools:
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory $(NODE_STAMP) || \
		echo "npm cannot install what builds the page: the tests that build it are skipped"; \
	else echo "no npm: the tests that build the page are skipped"; fi

demo: $(STAMP)
	@$(BIN)/tdbg demo

# Others look at the screen in a terminal of some size.
terminal:
	@if command -v tmux > /dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get install -qy --no-install-recommends tmux || { apt-get update -q && apt-get install -qy --no-install-recommends tmux; }; } \
		|| echo "tmux could not be installed: the tests of the screen in a terminal are skipped"; \
	else echo "no tmux: the tests of the screen in a terminal are skipped; to have them: sudo apt-get install tmux"; fi

# Real terminals and browsers are disturbed by a busy machine: what failed is run once more, alone, and must pass then.
# A test that needs this is a fault to look for; the first run says which. Given: a Python, options, what to test.
tested = $(1) -m pytest $(2) $(3) || { echo "what failed above is run once more, alone"; \
	$(1) -m pytest --last-failed --last-failed-no-failures none $(3); }

test: $(STAMP) lint page-tools browser terminal
	$(call tested,$(BIN)/python,-n 2 --dist worksteal)
	@$(MAKE) --no-print-directory test-onednn
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then \
		echo "tests/tf215 skipped: tf.estimator needs TensorFlow 2.15, and that needs Python 3.11: make PYTHON=python3.11 test"; \
	else $(MAKE) --no-print-directory test-tf215; fi

# Where oneDNN is on, TensorFlow makes other ops of a Session's graph, and other last digits. The CPU decides; what differs
# is tested with the other setting, too.
ONEDNN_PAGES := finding-nans shell/list_inputs shell/list_tensors shell/where shell/eval
ONEDNN_TESTS := $(addprefix tests/integration/,test_sessions.py test_walkthrough.py test_run_scene.py \
	test_session_profile.py test_import_dumps.py test_shell_values.py::test_the_story_of_a_session \
	test_trace_scene.py::test_a_session) $(foreach page,$(ONEDNN_PAGES),\
	'tests/integration/test_docs.py::test_a_page_says_what_really_happens[docs/$(page).md]')
test-onednn: $(STAMP)
	@other=$$($(BIN)/python -c 'from tensorflow.python.util import _pywrap_util_port as port; print(int(not port.IsMklEnabled()))' 2> /dev/null); \
	echo "once more with TF_ENABLE_ONEDNN_OPTS=$$other"; export TF_ENABLE_ONEDNN_OPTS=$$other; \
	$(call tested,$(BIN)/python,-n 2 --dist loadfile,$(ONEDNN_TESTS))

test-tf215: $(STAMP215)
	$(call tested,$(BIN215)/python,-n 2 --dist loadfile,tests/tf215)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests benchmarks setup.py
	$(BIN)/mypy

bench: $(STAMP) browser
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/recorder.py
	$(BIN)/python benchmarks/store.py --rows 10000000
	$(BIN)/python benchmarks/debug_events.py
	$(BIN)/python benchmarks/why.py
	$(BIN)/python benchmarks/shell.py
	$(BIN)/python benchmarks/web.py
	$(BIN)/python benchmarks/session.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/overhead.py --every-mode --programs transformer-128 --rounds 3

clean:
	rm -rf $(VENV) $(VENV215) build tests/e2e/artefacts webui/node_modules src/tdbg.egg-info src/tdbg/native/*.so
