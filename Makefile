# The front door. CMake does the work (CMakePresets.json); this file says in which order.
JOBS ?= 2
WEFT := build/release/weft
MATRIX := apps/cholesky/data/bar.mtx
N := 4096
ROUNDS := 5
TODAY := $(shell date -u +%Y-%m-%d)

.DEFAULT_GOAL := help
.PHONY: help setup setup-build setup-bench setup-python tool build demo test test-long bench ablate validate format clean wheel test-python \
  setup-deb deb test-deb setup-docs docs

help:
	@echo 'make build    install what is missing (apt), build the weft tool, $(WEFT), and the examples'
	@echo 'make demo     factor a real matrix, then one of size N=$(N), and say how long it took'
	@echo 'make test     everything: release, sanitizers, clang, install, format (some 30 minutes on 2 cores)'
	@echo 'make test-long  beside it, for the night: stress tenfold, unit optimised, many seeds, all orders under ThreadSanitizer'
	@echo 'make bench    nanoseconds per task, in turns with OpenMP, oneTBB, StarPU and rayon (installs them; 10 minutes)'
	@echo 'make ablate   what programs lose without each rule of the scheduler, as docs/ablation.md (an hour; goes on after a break)'
	@echo 'make validate virtual times beside real ones, of this computer (up to 20 minutes, on a quiet machine)'
	@echo 'make wheel    the Python package weftrt as a wheel, in build/python/wheel'
	@echo 'make test-python  install that wheel into an empty environment and run its tests there'
	@echo 'make deb      Debian packages of what is committed, in build/deb: libweft0, libweft-dev, weft'
	@echo 'make test-deb  lintian, and programs that are built against them'
	@echo 'make docs     all pages as a site, build/docs/site/index.html, with search, that needs no network (pip fetches mkdocs)'
	@echo 'make format   rewrite the sources as clang-format-16 wants them'
	@echo 'make setup    only install what is missing, for the build and for make test'
	@echo 'make clean    remove build/'
	@echo 'JOBS=$(JOBS) processes build and test at a time.'

setup:
	@echo '==> setup: what is missing for build and test'
	@cmake/setup.sh test
	@cmake/kernel.sh build/kernel

setup-build:
	@echo '==> setup: what is missing for the build'
	@cmake/setup.sh build

setup-python:
	@echo '==> setup: what is missing for the wheel'
	@cmake/setup.sh python

setup-docs:
	@echo '==> setup: what is missing for the site'
	@cmake/setup.sh docs

setup-deb:
	@echo '==> setup: what is missing for the Debian packages'
	@cmake/setup.sh deb

setup-bench:
	@echo '==> setup: what is missing for the peers of the benchmark'
	@cmake/setup.sh bench
	@cmake/crates.sh build/release/crates

tool: setup-build
	@echo '==> build: the weft tool'
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS) --target tool

build: tool
	@echo '==> build: the examples'
	@cmake --build --preset release -j$(JOBS) --target examples

demo: setup-build
	@echo '==> build: the weft tool, without what `weft bench` compares'
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS) --target weft_tool
	@echo '==> demo: a matrix from a real problem'
	$(WEFT) run cholesky --matrix $(MATRIX)
	@echo '==> demo: a dense matrix of $(N) rows'
	$(WEFT) run cholesky --n $(N)

test: setup
	@tests/all.py --jobs $(JOBS)

test-long: setup
	@status=0; tests/all.py --long --jobs $(JOBS) || status=1; $(MAKE) test-python || status=1; $(MAKE) test-deb || status=1; \
	  $(MAKE) docs || status=1; exit $$status

# The library is that of `make build`. pip gets what builds the wheel (nanobind, scikit-build-core) into an environment
# that lives as long as the build; what the wheel needs at run time auditwheel puts into it.
wheel: setup-python
	@echo '==> wheel: the library and the tool'
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS) --target libweft.a weft_wheel_tool  # `weft` is the tool of the system
	@echo '==> wheel: weftrt'
	@python3 -m venv build/python/tools && build/python/tools/bin/pip -q install -r python/requirements-build.txt
	@rm -rf build/python/dist build/python/wheel
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) build/python/tools/bin/python -m build -q --wheel --outdir build/python/dist \
	  -Ccmake.define.WEFTRT_LIBRARY=$(CURDIR)/build/release/libweft.a \
	  -Ccmake.define.WEFTRT_TOOL=$(CURDIR)/build/release/wheel/weft python
	@PATH=$(CURDIR)/build/python/tools/bin:$$PATH build/python/tools/bin/auditwheel repair -w build/python/wheel build/python/dist/*.whl >/dev/null
	@ls -l build/python/wheel

test-python: wheel
	@echo '==> test-python: in an empty environment'
	@python/tests/installed.sh build/python/wheel build/python/empty

deb: setup-deb
	@mkdir -p build/deb && rm -f build/deb/*.deb
	@DEB_BUILD_OPTIONS="parallel=$(JOBS) noautodbgsym" packaging/deb.sh build/deb

test-deb: deb
	@echo '==> test-deb: lintian, and programs built against the packages'
	@packaging/test_deb.sh build/deb

# Nothing of the site is loaded from elsewhere, which the two last lines hold; pip gets what builds it.
DOCS := build/docs
docs: setup-docs
	@echo '==> docs: the pages, as a site'
	@python3 -m venv $(DOCS)/tools && $(DOCS)/tools/bin/pip -q install -r docs/requirements.txt
	@rm -rf $(DOCS)/pages $(DOCS)/site && docs/site_pages.py pages $(DOCS)/pages
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/tools/bin/mkdocs build -q
	@docs/site_pages.py built $(DOCS)/site
	@tests/site_drawn.py $(DOCS)/site
	@echo '==> built: $(DOCS)/site/index.html'

bench: setup-bench tool
	@echo '==> bench: the parts, then the whole'
	@cmake --build --preset release -j$(JOBS) --target benches bench_systems
	@for b in build/release/bench/*; do [ -f "$$b" ] && [ -x "$$b" ] || continue; echo "==> $$b"; "$$b" || exit 1; done
	@mkdir -p build/bench
	$(WEFT) bench --rounds $(ROUNDS) --out build/bench/$(TODAY).json --markdown build/bench/$(TODAY).md
	@echo '==> written: build/bench/$(TODAY).json, build/bench/$(TODAY).md'

ablate: setup-build
	@echo '==> ablate: each rule off in turn'
	@cmake --preset release --log-level=WARNING >/dev/null
	@cmake --build --preset release -j$(JOBS) --target bench_ablation
	$(FIRST) bench/ablation/ablate.py --jobs $(JOBS) --host $(shell nproc) --page docs/ablation.md --data docs/ablation.json
	@echo '==> written: docs/ablation.md, docs/ablation.json'

# In sessions of their own, which come first where the kernel shares the cores among sessions and lets us say so.
FIRST := setsid -w sh -c 'echo -20 2>/dev/null >/proc/self/autogroup; exec "$$0" "$$@"'
validate: tool
	@echo '==> validate: this computer as a machine file'
	@mkdir -p build/validation
	$(FIRST) $(WEFT) calibrate --tries 10 --out build/validation/this-host.toml
	@echo '==> validate: real runs beside virtual ones'
	@tests/validate.py --weft $(WEFT) --machine build/validation/this-host.toml --out build/validation --rounds $(ROUNDS) \
	  $(if $(PAGE),--page $(PAGE))
	@echo '==> written: build/validation/validation.md, validation.json'

format:
	@echo '==> format'
	@tests/format.py --fix

clean:
	@echo '==> clean'
	@rm -rf build
