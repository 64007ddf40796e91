# Two commands are enough: `./nacre crawl URL` and `make test`. Each does all its own set-up.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# Else pytest rewrites the assertions of all test modules in each of its processes (17 seconds each).
unexport PYTHONDONTWRITEBYTECODE
FAST := "not crawl and not kill and not slow and not cases and not spark and not console and not browser"
WEBS := postfix-doc anarchism tomcat10-docs
# Real pages for the table of links; the packages of MORE_PAGES are large, so that make test leaves
# them out.
PAGES := debian-faq-zh-cn debian-faq maint-guide-zh-cn developers-reference debian-reference-zh-cn \
	postgresql-doc-15 libreoffice-help-zh-cn python-django-doc bind9-doc nodejs-doc \
	cppreference-doc-en-html apache2-doc gap-doc libboost1.74-doc sqlite3-doc octave-doc \
	python3.11-doc openjdk-17-doc lilypond-doc-html wireshark-doc
SEEDS := 11-30
ROWS := 100000
FEW := 10
SPARK_TESTS := not slow
# Of pytest. More than cores: nearly half of the time a test waits for a server or a clock.
WORKERS := 4
# Of the unit tests: processes that share one collection.
FORKS := -p tools.forks --forks 6
# The modules with tests of a mark; to collect all modules takes pytest half a minute.
modules = $$(grep -rl --include='test_*.py' 'mark\.$(1)' tests)
# Browsers that open pages side by side: half of the time each waits for a crawl.
BROWSERS := 3
MORE_PAGES := rust-doc installation-guide-amd64 kicad-doc-zh qtbase5-doc-html erlang-doc \
	python-scipy-doc debian-handbook linux-doc-6.1

.PHONY: mutants help environment system judges webs format lint types imports unit cases-tests crawls kills spark \
	browser-tests console-stories console-fuzz console-pictures console-load webs-all test test-all cases bench bench-full traps reference docs lock catalogues web goals ablation clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

environment: ## the Python environment (.venv) with the developers' tools
	@sh tools/environment.sh "$(CURDIR)" dev

system: ## nginx, dnsmasq and Chromium, for the tests
	@sh tools/system.sh "$(CURDIR)"

judges: environment ## the environment of the independent judges (.venv-judges)
	@$(PY) -m tools.judges

webs: environment ## the documentation sites that the tests crawl (in ~/.cache/nacre/webs)
	@$(PY) -m tools.debs $(WEBS) $(PAGES)
	-@$(PY) -m tools.releases

webs-all: webs ## the large ones too
	@$(PY) -m tools.debs $(MORE_PAGES)

format: environment ## format the sources
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lint: environment
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

types: environment
	$(PY) -m mypy

imports: environment
	.venv/bin/lint-imports --no-cache

unit: environment
	$(PYTEST) $(FORKS) -m $(FAST)
	@sh tools/pythons.sh "$(CURDIR)" $(FORKS) -m $(FAST)

cases-tests: environment system webs
	$(PYTEST) -n $(WORKERS) -m "cases and not slow" tests/cases

crawls: environment system judges webs
	$(PYTEST) -p no:randomly -n 3 --dist loadfile -m "crawl and not slow and not browser" --timeout 300 \
		$(call modules,crawl)

kills: environment system webs
	TMPDIR="$${TMPDIR:-/tmp}" $(PYTEST) -p no:randomly -n 2 --dist worksteal -m "kill and not slow and not browser" \
		--timeout 600 \
		$(call modules,kill)

# Without Chromium it is skipped, which it says.
console-stories: environment system judges ## the pages of the console in a real browser, two minutes
	$(PYTEST) -p no:randomly -n $(BROWSERS) --dist loadfile --no-loadscope-reorder \
		-m "console and not slow" tests/console/stories tests/replay_server --timeout 400

# Without Chromium they are skipped; the last lines of pytest count them.
browser-tests: environment system ## pages that the crawler runs in a browser, two minutes
	$(PYTEST) -p no:randomly -n 2 --dist loadfile -m "browser and not slow" --timeout 300 \
		$(call modules,browser)

console-fuzz: environment system ## made-up requests for a minute a seed, starts of crawls too; only the loopback can be reached
	for seed in $(or $(SEEDS_OF_REQUESTS),1 2 3 4 5); do \
	NACRE_ISOLATED=1 NACRE_SEED=$$seed unshare -rn sh -c 'ip link set lo up && exec $(PYTEST) -q -s -p no:randomly -n 0 \
	-m console tests/console/stories/test_made_up_requests.py -k other --timeout 400' || exit 1; done

console-pictures: environment system ## the pictures of docs/console.md again
	NACRE_PICTURES=1 $(PYTEST) -p no:randomly -n 0 -m console tests/console/stories/test_pictures.py

# Without Java it is skipped, which it says.
spark: environment system ## batch rounds on a cluster of Apache Spark, on the loopback
	@$(PY) -m tools.spark; status=$$?; case $$status in \
		0) .venv-spark/bin/python -m pytest -p no:randomly -n 0 -m "spark and $(SPARK_TESTS)" tests/rounds/spark --timeout 900 ;; \
		3) echo "skipped: make spark" ;; \
		*) exit $$status ;; \
	esac

test: ## everything that CI runs: set-up, format, lint, types, import rules, all tests
	@sh tools/parts.sh "$(MAKE)"

test-all: test ## the longer runs too (200 kills, full-size simulations, new random examples, mutants, traps)
	NACRE_FUZZ=1 $(PYTEST) $(FORKS) -m $(FAST)
	$(PYTEST) -p no:randomly -m "slow and not spark" --timeout 7200
	$(MAKE) spark SPARK_TESTS=slow
	@$(PY) -m tools.mutants
	@$(PY) -m tools.debs git mediawiki
	$(PY) -m bench.traps --check

mutants: environment ## 200 changes of the core, each of which a unit test should notice
	@$(PY) -m tools.mutants

cases: environment system webs ## the conformance tables alone, from $$NACRE_CASES or ../shared/cases
	@$(PY) -m tests.cases.run $(TABLES)

bench: environment system ## speed: CPU per URL against wget and Scrapy, scope, frontier
	$(PY) -m bench.run

bench-full: environment system ## the same, with the 10-million-URL frontier
	$(PY) -m bench.run --full

console-load: environment ## the console with 50 jobs and 100 viewers: its goals (five minutes; ROWS=10000000 LOAD="--large-runs --seconds 300": a large job that crawls)
	$(PY) -m bench.console_load --rows $(ROWS) $(LOAD)

traps: environment ## how soon a crawl has the pages of sites without end: replays, then real crawls and their plot (20 minutes at first)
	@$(PY) -m tools.debs git mediawiki
	$(PY) -m bench.traps
	$(PY) -m bench.traps --real --plot docs/traps.svg

reference: environment ## docs/reference again, from the components
	@$(PY) -m tools.reference

docs: environment ## the documentation as a web site, with search: .cache/docs/html
	@$(PY) -m tools.docs_site.build

catalogues: environment ## the texts of the console in other languages: collect
	@$(PY) -m tools.catalogues

web: ## the scripts and the style of the console again, from web/ (needs Node)
	cd web && npm ci --ignore-scripts --no-audit --no-fund && node build.js

goals: environment ## measure the goals of incremental crawling; their table (an hour of two cores)
	$(PY) -m nacre simweb goals --seeds $(SEEDS) --few $(FEW) --jobs 2 --parts .cache/goals --out docs/goals.json
	$(PY) -m tools.goals

ablation: environment ## what halving and doubling each guess of the planner does (fifteen minutes)
	$(PY) -m bench.ablation

lock: environment ## the locks again, from pyproject.toml
	$(PY) -m uv --version >/dev/null 2>&1 || $(PY) -m pip install --quiet uv
	$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header pyproject.toml --group build -o requirements.lock
	$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --group dev pyproject.toml -o requirements-dev.lock
	$(PY) -m uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --group judges -o requirements-judges.lock
	$(PY) -m uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --group sphinx -o requirements-sphinx.lock
	$(PY) -m uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --group docs -o requirements-docs.lock
	$(PY) -m uv pip compile -q --python-version 3.11 --generate-hashes --no-strip-extras \
		--no-emit-index-url --no-header --group signatures -o requirements-signatures.lock
	for extra in console cycle evidence objects opensearch parquet search spark; do \
		{ $(PY) -c "import sys, tomllib; project = tomllib.load(sys.stdin.buffer)['project']; \
			print(*project['optional-dependencies']['$$extra'], sep='\n')" <pyproject.toml; \
			[ $$extra != spark ] || printf 'setuptools<81\nwheel\n'; } | \
		$(PY) -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
			--no-header --no-annotate -c requirements.lock - -o requirements-$$extra.lock || exit 1; \
	done

clean: ## environments and caches away; crawls and downloads (~/.cache/nacre) stay
	rm -rf .venv .venv-* .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
