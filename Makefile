# make app: install, compute the default run, serve the dashboard.   make test: every test.   make lint: ruff, pyright.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8501
# By hash where the lock was tried, else by version.
LOCKED := $(shell [ "$$(uname -sm)" = "Linux x86_64" ] && $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' && echo yes)
PACKAGES := $(if $(LOCKED),--require-hashes -r requirements.lock,-r requirements.txt)

.PHONY: app build test lint browser clean

app: build
	$(BIN)/streamlit run app.py --server.port $(PORT)

build: $(VENV)/installed
	chmod 700 cache
	$(BIN)/python -m dntk_core build

# Two workers with one thread each: tests start processes of their own, and a small machine has two cores.
test: $(VENV)/installed browser
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --no-loadscope-reorder

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

$(VENV)/installed: requirements.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "DNTK needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PACKAGES)
	touch $@

# Any Chrome or Chromium will do; without one, the system's package, else Playwright's own.
browser: $(VENV)/installed
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	$(BIN)/python -c 'import os, sys; from playwright.sync_api import sync_playwright as p; sys.exit(not os.path.exists(p().start().chromium.executable_path))' 2>/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get -qq update && apt-get -qq install -y chromium >/dev/null; \
	else $(BIN)/python -m playwright install chromium; fi

clean:
	rm -rf $(VENV)
