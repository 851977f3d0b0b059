# The commands of the book. `make` alone lists them.
# Needed: git, make and a Python that pyproject.toml names, with its venv module. `make book PYTHON=...` chooses one.

.DEFAULT_GOAL := help
.PHONY: help book site serve lint check page test binder execute exercises questions slides reading wasm browser lite test-lite weight first-output pdf epub offline offer grade bench tricks tuning lock dist clean

PYTHON ?=
PORT ?= 8000
BIN ?= .venv/bin
OUT ?= .
# The Pythons that the pinned set has wheels for, newest first: the classifiers in pyproject.toml name them.
PYTHONS := $(shell sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml | sort -r)
# A build takes half a minute. One that hangs shall fail, where there is a program that ends it (GNU coreutils' timeout).
LIMIT ?= 600
TIMEOUT := $(shell command -v timeout || command -v gtimeout)
READY := .venv/.ready
# Workers, kernels and builds import the same modules: what one has compiled serves the others.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make book     make the environment, build the site into _build/html, say where to open it"
	@echo "make serve    build the site and serve it on this machine only (PORT=$(PORT))"
	@echo "make check    see that the code is in order and run treekit's tests that need no browser, in about a minute"
	@echo "make page     check one page in a minute: its prose, its outputs, its links (CHAPTER=id3)"
	@echo "make test     run every test: of treekit, the notebooks, the site"
	@echo "make binder   install what Binder would and run the chapters there, some minutes"
	@echo "make execute  run the chapters again and store their outputs (CHAPTERS=\"entropy id3\" for some)"
	@echo "make exercises  write the graded exercises without their solutions into _build/exercises (ASSIGNMENTS=..., SOURCES=...)"
	@echo "make questions  write the checks of the built site and the graded tasks as a bank of questions for Moodle"
	@echo "make slides   write the slides of one chapter beside its page (CHAPTER=id3)"
	@echo "make reading  tell how long each chapter's open page takes (CHAPTERS=\"entropy id3\" for some)"
	@echo "make weight   tell what a first visit to some pages weighs and how long it takes on a phone (PAGES=\"entropy id3\")"
	@echo "make first-output  tell what comes between Run and the first output of a cell, in bytes and seconds"
	@echo "make pdf      set the book and each chapter of the built site as PDF, on A4 and letter (PAGES=\"book id3\" for some)"
	@echo "make epub     pack the built site as an e-book"
	@echo "make offline  pack the built site as a zip that opens where there is no network"
	@echo "make offer    link these files from the built site, with their sizes"
	@echo "make grade    mark what students handed in (SUBMISSIONS=folder or zip; ROSTER=..., RULES=..., ASSIGNMENTS=...)"
	@echo "make lite     build the site with JupyterLite beside it, and a button on each chapter that opens it there"
	@echo "make test-lite  build JupyterLite, open each chapter there in a browser and run a cell, some minutes"
	@echo "make wasm     run the chapters in 32-bit WebAssembly, as a browser does, and compare, some 20 minutes (CHAPTERS=...)"
	@echo "make browser  run the chapters in a browser by the page's own Python, and compare, some 30 minutes (CHAPTERS=...)"
	@echo "make bench    measure treekit against its peers, some 20 minutes (ONLY=\"cart path\" for some groups)"
	@echo "make tricks   measure what each trick of speed gains, some minutes (ONLY=\"few cuts\" for one)"
	@echo "make tuning   measure which parameter of boosting pays, some 30 minutes"
	@echo "make lock     resolve requirements.in into requirements.txt, and what Binder installs, with hashes"
	@echo "make dist     build treekit's sdist and wheel into _build/dist"
	@echo "make clean    remove the built site and the environment"

book: $(READY) site
	@echo
	@echo "The book is built. Open _build/html/index.html in a browser, or run: make serve"

# The build alone, in an environment that stands. From nothing, because an update forgets warnings.
site:
	@echo "== Building the site (some seconds)"
	@rm -rf "$(OUT)/_build/html" "$(OUT)/_build/.doctrees"
	@$(if $(TIMEOUT),$(TIMEOUT) --foreground --kill-after=10 $(LIMIT)) \
	    $(BIN)/jupyter-book build . --path-output "$(OUT)" --all -W -n --keep-going || { status=$$?; \
	    test $$status -ne 124 || echo "The build has not ended within $(LIMIT) seconds (LIMIT=... allows more)." >&2; \
	    exit $$status; }

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

check: lint
	@echo "== Testing treekit"
	$(BIN)/python -m pytest $(WORKERS) -p no:nbval -m "not slow" tests \
	    $(addprefix --ignore=tests/,book benchmarks exercises grading models/test_dask_gbdt.py)

# A page in Markdown has prose and links alone.
page: $(READY)
	$(BIN)/python -m scripts.page $(CHAPTER)
	$(BIN)/python -m pytest -q -k $(CHAPTER) tests/book/test_prose.py tests/book/test_reading.py \
	    tests/book/test_notebooks.py tests/book/test_checks.py $(wildcard book/$(CHAPTER).ipynb)

test: lint
	@echo "== Running every test (some minutes)"
	$(BIN)/python -m pytest $(WORKERS) tests book

binder: $(READY)
	$(BIN)/python -m pytest -m binder tests/book/test_binder.py

execute: $(READY)
	.venv/bin/python scripts/execute.py $(CHAPTERS)

exercises: $(READY)
	@.venv/bin/python -m scripts.exercises $(if $(SOURCES),--sources "$(SOURCES)") \
	    $(if $(ASSIGNMENTS),--assignments $(ASSIGNMENTS))

# Of the site as it was built last.
questions: $(READY)
	@$(BIN)/python -m scripts.questions "$(OUT)/_build/html" "$(OUT)/_build/questions.xml"

# Of the site as it was built last: CHAPTER is the name of a page in book/.
slides: $(READY)
	@$(BIN)/python -m scripts.slides $(CHAPTER) "$(OUT)/_build/html"

lite: $(READY)
	@BOOK_LITE=yes $(MAKE) --no-print-directory site
	@echo "== Building JupyterLite"
	@$(BIN)/python -m scripts.lite "$(OUT)/_build/html"

test-lite: $(READY)
	$(BIN)/python -m pytest -m lite tests/book/test_lite.py

wasm: $(READY)
	@.venv/bin/python -m scripts.wasm $(CHAPTERS)

# With the wheels from where a reader's browser gets them; of the site as it is built now.
browser: book
	@$(BIN)/python -m tests.book.in_browser "$(OUT)/_build/html" $(CHAPTERS)
	$(BIN)/python -m pytest -m wheels tests/book/test_your_table.py

reading: $(READY)
	@.venv/bin/python -m scripts.reading $(CHAPTERS)

weight: book
	@$(BIN)/python -m tests.book.weight "$(OUT)/_build/html" $(PAGES)

first-output: book
	@$(BIN)/python -m tests.book.first_output "$(OUT)/_build/html"

# Of the site as it was built last, into _build/files.
pdf: $(READY)
	@$(BIN)/python -m scripts.paper.pdf "$(OUT)/_build/html" "$(OUT)/_build/files" $(if $(PAGES),--pages $(PAGES))

epub: $(READY)
	@$(BIN)/python -m scripts.paper.epub "$(OUT)/_build/html" "$(OUT)/_build/files/decision-trees.epub"

offline: $(READY)
	@$(BIN)/python -m scripts.paper.offline "$(OUT)/_build/html" "$(OUT)/_build/files/decision-trees-site.zip"

# After the others: the site that it changes is no longer what they were made of.
offer: $(READY)
	@$(BIN)/python -m scripts.paper.offer "$(OUT)/_build/html" "$(OUT)/_build/files"

# OPTIONS passes others on; `.venv/bin/python -m grading --help` lists them.
grade: $(READY)
	@test -n "$(SUBMISSIONS)" || { echo "Say where the submissions are: make grade SUBMISSIONS=folder (or a zip)" >&2; exit 1; }
	@.venv/bin/python -m grading "$(SUBMISSIONS)" $(if $(ROSTER),--roster "$(ROSTER)") \
	    $(if $(SOURCES),--sources "$(SOURCES)") $(if $(ASSIGNMENTS),--assignments $(ASSIGNMENTS)) \
	    $(if $(RULES),--rules "$(RULES)") $(if $(UNSAFE),--unsafe) $(OPTIONS)

# LightGBM comes with the first benchmark, and CatBoost with the first tuning: nothing else needs them.
PEERS = .venv/bin/uv pip install --system-certs --python .venv/bin/python --quiet -r benchmarks/requirements.txt
bench: $(READY)
	@$(PEERS)
	.venv/bin/python -m benchmarks $(ONLY)

tricks: $(READY)
	@.venv/bin/python -m benchmarks.tricks $(if $(ONLY),"$(ONLY)")

tuning: $(READY)
	@$(PEERS) catboost==1.2.10
	@.venv/bin/python -m benchmarks.tuning

# Left out of the book's lock: jsonschema would read its grammars, for a second in every program that opens a notebook,
# to check the form of international addresses, which nothing here asks for. It does without where they are missing.
# Binder installs less than the book, nbgrader and JupyterLite in environments of their own: each has a lock, in the book's
# versions. JupyterLite's notebooks start with what Pyodide's lock names, in its versions.
LEFT_OUT = rfc3987-syntax
COMPILE_FOR = .venv/bin/uv pip compile --system-certs --universal --generate-hashes --custom-compile-command "make lock" \
    --quiet --python-version
COMPILE = $(COMPILE_FOR) $(lastword $(PYTHONS))
# What Pyodide's lock names runs on Pyodide's own Python alone.
PYODIDE_PYTHON = 3.13

lock: $(READY)
	echo $(LEFT_OUT) | $(COMPILE) --excludes - --output-file requirements.txt requirements.in
	$(COMPILE) --constraints requirements.txt --output-file binder/requirements.txt binder/requirements.in
	$(COMPILE) --constraints requirements.txt --output-file lite/requirements.txt lite/requirements.in
	.venv/bin/python -m scripts.lite --names | $(COMPILE_FOR) $(PYODIDE_PYTHON) --no-deps --output-file lite/kernel.txt -
	echo nbgrader | $(COMPILE) --constraints requirements.txt --output-file binder/nbgrader.txt -

# Tests of treekit and a tag come before: RELEASING.md.
dist: $(READY)
	rm -rf _build/dist
	$(BIN)/python -m hatchling build --directory _build/dist

clean:
	rm -rf _build .venv

# The environment. It is brought up to date when the requirements or treekit's own metadata change.
# A name such as python3.13 may exist and not run, and a Python may lack venv: so each is tried.
TRIED := $(or $(PYTHON),.venv/bin/python python3 $(addprefix python,$(PYTHONS)) python)
IN_RANGE := import ensurepip, sys, venv; sys.exit("%d.%d" % sys.version_info[:2] not in "$(PYTHONS)".split())

$(READY): requirements.txt pyproject.toml book/live/package-lock.json
	@for python in $(TRIED); do \
	    if "$$python" -c '$(IN_RANGE)' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "The book needs one of Python $(PYTHONS), with its venv module (on Debian: python3-venv)." >&2; \
	    echo "Tried in vain: $(TRIED)" >&2; \
	    echo "Install one, or name it: make book PYTHON=path/to/python" >&2; exit 1; \
	fi; \
	if [ "$$found" != .venv/bin/python ]; then \
	    echo "== Making the environment .venv with $$found ($$("$$found" --version))"; \
	    "$$found" -m venv --clear .venv; \
	fi
	@echo "== Installing the pinned requirements (some 250 MB to fetch the first time)"
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.txt | .venv/bin/python -m pip install --quiet --disable-pip-version-check \
	    --require-hashes -r /dev/stdin
	@.venv/bin/uv pip sync --system-certs --python .venv/bin/python --compile-bytecode --require-hashes requirements.txt
	@.venv/bin/uv pip install --system-certs --python .venv/bin/python --quiet --no-deps --no-build-isolation -e .
	@echo "== Fetching the page's own Python and compiling it (13 MB)"
	@.venv/bin/python book/_ext/live.py
	@touch $@
