# The commands of the book. `make` alone lists them.
# Needed: git, make and one of Python 3.11, 3.12 and 3.13. `make book PYTHON=...` names one.

.DEFAULT_GOAL := help
.PHONY: help book site serve lint check test binder execute exercises slides reading weight grade bench lock clean

PYTHON ?=
PORT ?= 8000
BIN ?= .venv/bin
OUT ?= .
UV := uv==0.13.8
READY := .venv/.ready
# Workers, kernels and builds import the same modules: what one has compiled serves the others.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make book     make the environment, build the site into _build/html, say where to open it"
	@echo "make serve    build the site and serve it on this machine only (PORT=$(PORT))"
	@echo "make check    see that the code is in order and run treekit's tests that need no browser, in about a minute"
	@echo "make test     run every test: of treekit, the notebooks, the site"
	@echo "make binder   install what Binder would and run the chapters there, some minutes"
	@echo "make execute  run the chapters again and store their outputs (CHAPTERS=\"entropy id3\" for some)"
	@echo "make exercises  write the graded exercises without their solutions into _build/exercises (ASSIGNMENTS=..., SOURCES=...)"
	@echo "make slides   write the slides of one chapter beside its page (CHAPTER=id3)"
	@echo "make reading  tell how long each chapter's open page takes (CHAPTERS=\"entropy id3\" for some)"
	@echo "make weight   tell what a first visit to some pages weighs and how long it takes on a phone (PAGES=\"entropy id3\")"
	@echo "make grade    mark what students handed in (SUBMISSIONS=folder or zip; ROSTER=..., RULES=..., ASSIGNMENTS=...)"
	@echo "make bench    measure treekit against its peers, some 20 minutes (ONLY=\"cart path\" for some groups)"
	@echo "make lock     resolve requirements.in into requirements.txt"
	@echo "make clean    remove the built site and the environment"

book: $(READY) site
	@echo
	@echo "The book is built. Open _build/html/index.html in a browser, or run: make serve"

# The build alone, in an environment that stands. From nothing, because an update forgets warnings.
site:
	@echo "== Building the site (some seconds)"
	@rm -rf "$(OUT)/_build/html" "$(OUT)/_build/.doctrees"
	$(BIN)/jupyter-book build . --path-output "$(OUT)" --all -W -n --keep-going

serve: book
	@echo "Serving on http://127.0.0.1:$(PORT)/ (Ctrl+C ends it)"
	@.venv/bin/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

lint: $(READY)
	@echo "== Reading the code: style, format, types"
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# Each worker takes whole files, in the order of conftest.py: the longest first.
WORKERS = -n auto --dist=loadfile --no-loadscope-reorder
NBVAL = --nbval --nbval-current-env --nbval-cell-timeout=60

check: lint
	@echo "== Testing treekit"
	$(BIN)/python -m pytest $(WORKERS) -p no:nbval -m "not slow" tests \
	    $(addprefix --ignore=tests/,book benchmarks exercises grading models/test_dask_gbdt.py)

test: lint
	@$(BIN)/python -m scripts.binder || { $(REPLAY); }
	@echo "== Running every test (some minutes)"
	$(BIN)/python -m pytest $(WORKERS) $(NBVAL) tests book

REPLAY = $(BIN)/python -m pytest -m binder tests/book/test_binder.py && $(BIN)/python -m scripts.binder --remember

binder: $(READY)
	$(REPLAY)

execute: $(READY)
	.venv/bin/python scripts/execute.py $(CHAPTERS)

exercises: $(READY)
	@.venv/bin/python -m scripts.exercises $(if $(SOURCES),--sources "$(SOURCES)") \
	    $(if $(ASSIGNMENTS),--assignments $(ASSIGNMENTS))

# Of the site as it was built last: CHAPTER is the name of a page in book/.
slides: $(READY)
	@$(BIN)/python -m scripts.slides $(CHAPTER) "$(OUT)/_build/html"

reading: $(READY)
	@.venv/bin/python -m scripts.reading $(CHAPTERS)

weight: book
	@$(BIN)/python -m tests.book.weight "$(OUT)/_build/html" $(PAGES)

# OPTIONS passes others on; `.venv/bin/python -m grading --help` lists them.
grade: $(READY)
	@test -n "$(SUBMISSIONS)" || { echo "Say where the submissions are: make grade SUBMISSIONS=folder (or a zip)" >&2; exit 1; }
	@.venv/bin/python -m grading "$(SUBMISSIONS)" $(if $(ROSTER),--roster "$(ROSTER)") \
	    $(if $(SOURCES),--sources "$(SOURCES)") $(if $(ASSIGNMENTS),--assignments $(ASSIGNMENTS)) \
	    $(if $(RULES),--rules "$(RULES)") $(if $(UNSAFE),--unsafe) $(OPTIONS)

# LightGBM comes with the first benchmark: nothing else needs it.
bench: $(READY)
	@.venv/bin/uv pip install --system-certs --python .venv/bin/python --quiet -r benchmarks/requirements.txt
	.venv/bin/python -m benchmarks $(ONLY)

lock: $(READY)
	.venv/bin/uv pip compile --system-certs --universal --python-version 3.11 --custom-compile-command "make lock" \
	    --quiet --output-file requirements.txt requirements.in

clean:
	rm -rf _build .venv

# The environment. It is brought up to date when the requirements or treekit's own metadata change.
# A name such as python3.13 may exist and not run, and a Python may lack venv: so each is tried.
PYTHONS := $(or $(PYTHON),.venv/bin/python python3 python3.13 python3.12 python3.11 python)
IN_RANGE := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))

$(READY): requirements.txt pyproject.toml
	@for python in $(PYTHONS); do \
	    if "$$python" -c '$(IN_RANGE)' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "The book needs Python 3.11, 3.12 or 3.13, with its venv module (on Debian: python3-venv)." >&2; \
	    echo "Tried in vain: $(PYTHONS)" >&2; \
	    echo "Install one, or name it: make book PYTHON=path/to/python" >&2; exit 1; \
	fi; \
	if [ "$$found" != .venv/bin/python ]; then \
	    echo "== Making the environment .venv with $$found ($$("$$found" --version))"; \
	    "$$found" -m venv --clear .venv; \
	fi
	@echo "== Installing the pinned requirements (some 250 MB to fetch the first time)"
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check $(UV)
	@.venv/bin/uv pip install --system-certs --python .venv/bin/python --compile-bytecode -r requirements.txt
	@.venv/bin/uv pip install --system-certs --python .venv/bin/python --quiet --no-deps -e .
# jsonschema would read its grammars for a second and more in every program that opens a notebook, to check the form of
# international addresses, which nothing here asks for. It does without where they are missing.
	@.venv/bin/uv pip uninstall --python .venv/bin/python --quiet rfc3987-syntax
	@touch $@
