# SPDX-License-Identifier: GPL-2.0-only
# dm-ressd: `make help` lists the targets.

# Kernel build folder of the modules; by default that of the newest installed stock kernel.
KDIR ?= $(shell tools/vm/kernel-dir)
PREFIX ?= /usr/local
DESTDIR ?=

# The modules: the target itself, and the emulated SSD of the tests.
MODULES = dm-ressd tests/ssdsim

# Folders with a `check` target that needs no guest.
UNIT_TESTS = $(dir $(wildcard $(addsuffix /Makefile,tests/unit tests/model tests/ssdsim/test \
	tests/fuzz userspace)))

.PHONY: all modules userspace setup demo check check-unit check-crash coverage check-readme check-pi guest-programs debug-check arm-check stacks soak bench bench-apps \
	bench-normal-path bench-kernel papers calibrate probe-score lint matrix upstream install uninstall clean help

all: modules userspace ## build everything (default)

# Each guest gets them, but not their debug information.
modules: ## build the kernel modules into build/modules (KDIR= selects the kernel)
	@mkdir -p build/modules
	@set -e; for module in $(MODULES); do \
		flock build/modules.lock $(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR)/$$module modules; \
		for file in $$module/*.ko; do \
			[ build/modules/$${file##*/} -nt $$file ] || strip --strip-debug -o build/modules/$${file##*/} $$file; \
		done; \
	done

userspace: ## build ressd-probe, ressd-trace and ressdctl into build/bin
	@$(MAKE) --no-print-directory -C userspace

setup: ## install the Debian packages that are missing (needs root then)
	@tools/setup.sh

demo: setup ## the drive bare and with ressd, in an emulated machine: table and picture
	@$(MAKE) --no-print-directory all
	@tools/demo.sh

# What has not changed since an earlier run is not compiled again; the modules only in a folder of the same name.
check: export PATH := /usr/lib/ccache:$(PATH)
check: export CCACHE_DIR := $(or $(RESSD_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dm-ressd)/ccache
check: export CCACHE_MAXSIZE := 1G
check: export CCACHE_BASEDIR := $(CURDIR)
check: export CCACHE_NOHASHDIR := 1
check: setup ## all tests: unit, functional, crash; ends with the counts
	@$(MAKE) --no-print-directory -j "$$(nproc)" all
	@tools/check.sh

check-unit: ## only the tests that need no emulated machine
	@set -e; for tests in $(UNIT_TESTS); do \
		$(MAKE) --no-print-directory -C $$tests check; \
	done
	@tests/unit/test_results.py
	@tests/unit/test_check.py
	@tests/unit/test_peers.py
	@tests/unit/test_bench.py
	@tests/unit/test_apps.py
	@tests/unit/test_papers.py
	@tests/unit/test_papers_page.py
	@tests/vm/selftest_log.py
	@tests/kunit/test_ktap.py

check-crash: ## the crash simulator: a million crash states, and every deliberate bug found
	@mkdir -p build
	@status=0; \
	$(MAKE) --no-print-directory -C tests/model check >build/check-crash.log || status=1; \
	cat build/check-crash.log; \
	sed -n 's/^# result //p' build/check-crash.log | tools/results.py write check-crash || status=1; \
	exit $$status

coverage: userspace ## the branches of dm-ressd/core that neither unit tests nor the crash simulator take
	@tools/coverage.py

check-readme: setup ## the README typed line by line on fresh Debian 12 and 13 (needs the network)
	@tests/boot/readme.sh

check-pi: setup ## a Raspberry Pi's root file system on its SD card: adopt, power cuts, leave (needs the network)
	@tests/boot/pi.sh

# What guest tests run beside the modules and the tools.
guest-programs: setup
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory -C tests/functional all
	@$(MAKE) --no-print-directory -C tests/fuzz tools

debug-check: guest-programs ## the guest tests on debug kernels, hours: KASAN, lockdep, kmemleak; KCSAN, also deliberate races
	@status=0; for kind in memory races; do tests/vm/other-kernel.sh $$kind || status=1; done; \
		tests/vm/mutants.sh --races || status=1; exit $$status

arm-check: setup ## the guest tests on ARM, hours: a kernel of 32 bits, and one with pages of 16 KiB
	@status=0; for kernel in 6.1:armhf sid:arm64-16k; do \
		tests/vm/other-kernel.sh $$kernel || status=1; done; exit $$status

stacks: guest-programs ## ressd below and above lvm2, md, dm-crypt, a loop device; swap on it; stress-ng on file systems
	@tests/vm/in-guest --timeout 3600 -- stacks
	@tests/vm/in-guest --timeout 3600 -- suites

soak: guest-programs ## the long tests, hours: 100 million crash states, fuzzing, power cuts (resumable)
	@$(MAKE) --no-print-directory -C tests/model all
	@tools/soak.sh

bench: setup ## measure, and write build/results/bench.json
	@$(MAKE) --no-print-directory all
	@tools/bench.sh

papers: setup ## what the papers published, measured again; writes docs/papers.md (resumable)
	@$(MAKE) --no-print-directory all
	@for folder in tools/bench/model tests/probe; do \
		$(MAKE) --no-print-directory -C $$folder || exit; done
	@$(MAKE) --no-print-directory -C tests/ssdsim/test run
	@tools/papers.sh

bench-apps: setup ## applications, bare and with ressd; writes build/results/bench-apps.json
	@$(MAKE) --no-print-directory all
	@tools/bench.sh --only apps

bench-normal-path: setup ## requests cut and ordered; writes build/results/bench-normal-path.json
	@$(MAKE) --no-print-directory all
	@tools/bench.sh --only normal-path

bench-kernel: setup ## time under the lock, a fast device, several processors; writes build/results/kernel.json
	@$(MAKE) --no-print-directory all
	@tools/bench.sh --only kernel

calibrate: setup ## the emulated drives beside the published figures of the real ones
	@$(MAKE) --no-print-directory modules MODULES=tests/ssdsim
	@tools/calibrate.sh

probe-score: all ## ressd-probe against emulated drives: what it finds, misses and gets wrong
	@$(MAKE) --no-print-directory -C tests/probe
	@$(MAKE) --no-print-directory -C tools/bench/model
	@tools/probe-score.py --guest

lint: ## checkpatch, sparse, warnings, shellcheck, Python
	@tools/lint.sh

upstream: ## the module as a patch series for drivers/md, in build/upstream/patches
	@tools/upstream.sh --build

matrix: setup ## the modules for each kernel by each compiler, the tools for each machine: a table
	@tools/matrix.sh

install: ## build for the running kernel and install (KERNEL=, DESTDIR=, PREFIX=)
	@MAKE="$(MAKE)" CC="$(CC)" PKG_CONFIG="$(PKG_CONFIG)" DESTDIR="$(DESTDIR)" KERNEL="$(KERNEL)" \
		tools/install.sh module
	@$(MAKE) --no-print-directory -C userspace install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)

uninstall: ## remove what install has installed, for all kernels (DESTDIR=, PREFIX=)
	@DESTDIR="$(DESTDIR)" tools/install.sh uninstall
	@$(MAKE) --no-print-directory -C userspace uninstall DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)

clean: ## remove what the build made
	@for module in $(MODULES); do \
		$(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR)/$$module clean; \
	done
	@$(MAKE) --no-print-directory -C userspace clean
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
