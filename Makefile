# SPDX-License-Identifier: GPL-2.0
# beeunwind.ko and beectl, their tests and the demo; "make help" lists targets.
# kbuild reads Kbuild, never this file.

KVER    ?= $(shell uname -r)
KDIR    ?= $(firstword $(wildcard /lib/modules/$(KVER)/build) $(newest_headers))
PREFIX  ?= /usr/local
KERNELS ?= 6.12 6.1 newest
COMPILE ?= 6.1-rt 6.6 6.8 6.18 6.19
T       ?= 60
SECONDS ?= 3600
DEBUG_KERNELS ?= debug

# No headers for the running kernel: build for the newest that are installed.
newest_headers = $(shell ls -d /lib/modules/*/build /usr/src/linux-headers-*-$(newest_arch) 2>/dev/null | \
		 sort -V | tail -n1)
newest_arch    = $(shell dpkg --print-architecture 2>/dev/null || echo amd64)
kdir          := $(abspath $(KDIR))
release       := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(kdir)/include/generated/utsrelease.h 2>/dev/null)

# One object directory per kernel, with links to the sources: kbuild puts its
# objects beside them.
objdir = build/kmod/$(release)
test_objdir = build/test-modules/$(release)
kbuild = $(MAKE) --no-print-directory -C $(kdir) M=$(CURDIR)/$(objdir) CONFIG_DEBUG_INFO_BTF_MODULES=

# kbuild and tools run in other directories.
override DESTDIR := $(if $(DESTDIR),$(abspath $(DESTDIR)))

# Of beeunwind; release is that of the kernel.
version       := $(shell sed -n 's/.*BEE_VERSION[^"]*"\(.*\)"/\1/p' tools/util/version.h)

export V PREFIX DEBUG

.PHONY: all
all: tools module	## Build beectl and beeunwind.ko (default)

.PHONY: tools
tools:			## Build beectl; with DEBUG=1 build/debug/beectl with ASan and UBSan
	@$(MAKE) --no-print-directory -C tools

.PHONY: module
module: ko		## Build beeunwind.ko for KDIR or KVER (default: the running kernel)
	@cmp -s $(objdir)/beeunwind.ko beeunwind.ko || \
		{ cp $(objdir)/beeunwind.ko .beeunwind.ko.$$$$ && mv .beeunwind.ko.$$$$ beeunwind.ko; }

.PHONY: headers
headers:
ifeq ($(and $(kdir),$(release)),)
	@echo "beeunwind.ko: no kernel headers$(if $(kdir), in $(kdir)): install linux-headers-$(KVER) or say make KDIR=DIR" >&2; exit 1
else ifneq ($(release),$(KVER))
ifeq ($(origin KDIR),file)
	@echo "beeunwind.ko: no headers for the running kernel $(KVER); building for $(release) (choose with KDIR=)"
endif
endif

# In build/kmod/RELEASE only, so that the guests' modules leave the top alone.
.PHONY: ko
ko: headers
	@mkdir -p $(objdir)
	+@flock $(objdir) $(MAKE) --no-print-directory locked-ko

# One at a time in a directory: what kbuild makes and removes at once is in nobody's way.
.PHONY: locked-ko
locked-ko:
	@find $(objdir) -type l ! -exec test -e {} \; -delete
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/include $(objdir)/
	+@$(kbuild) modules

# What the guest tests load beside it, and in its place.
.PHONY: test-ko
test-ko: headers
	@mkdir -p $(test_objdir)/mapped
	+@flock $(test_objdir) $(MAKE) --no-print-directory locked-test-ko

.PHONY: locked-test-ko
locked-test-ko:
	@cp -rsf $(CURDIR)/selftests/fixtures/modules/. $(test_objdir)/
	@cp -rsf $(CURDIR)/kmod $(CURDIR)/include $(test_objdir)/mapped/
	@ln -sf $(CURDIR)/Kbuild $(test_objdir)/mapped/Kbuild.module
	@find $(test_objdir) -type l ! -exec test -e {} \; -delete
	+@for dir in $(test_objdir) $(test_objdir)/mapped; do \
		$(MAKE) --no-print-directory -C $(kdir) M=$(CURDIR)/$$dir \
			CONFIG_DEBUG_INFO_BTF_MODULES= modules || exit 1; \
	done

.PHONY: install
install: install-module install-tool	## Install the module and beectl (PREFIX, DESTDIR)

.PHONY: install-module
install-module: module	## Install beeunwind.ko for KDIR or KVER (DESTDIR)
	+$(kbuild) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates modules_install
	$(if $(DESTDIR),,depmod $(release))

.PHONY: install-tool
install-tool:		## Install beectl, its library, man page, completion and service (PREFIX, DESTDIR)
	@$(MAKE) --no-print-directory -C tools DESTDIR=$(DESTDIR) install

dkms_source = $(DESTDIR)/usr/src/beeunwind-$(version)

.PHONY: install-dkms
install-dkms:		## Install the module's sources in /usr/src, for dkms (DESTDIR)
	rm -rf $(dkms_source)
	packaging/copy-sources $(dkms_source) Kbuild COPYING dkms.conf include kmod

.PHONY: uninstall
uninstall: uninstall-module uninstall-tool	## Remove what install has installed

# Of all kernels, unless one is named.  Its headers may have gone: then others are found.
installed = $(if $(filter-out file,$(origin KDIR)),$(release),$(if $(filter-out file,$(origin KVER)),$(KVER),*))

.PHONY: uninstall-module
uninstall-module:	## Remove what install-module has installed, for KDIR, KVER or all kernels
	@for file in $(installed:%=$(DESTDIR)/lib/modules/%/updates/beeunwind.ko*); do \
		[ -e "$$file" ] || continue; \
		echo "rm $$file"; rm "$$file" || exit; \
		release=$${file#$(DESTDIR)/lib/modules/}; \
		$(if $(DESTDIR),:,depmod "$${release%%/*}"); \
	done

.PHONY: uninstall-tool
uninstall-tool:		## Remove what install-tool has installed
	@$(MAKE) --no-print-directory -C tools DESTDIR=$(DESTDIR) uninstall

.PHONY: uninstall-dkms
uninstall-dkms:		## Remove what install-dkms has installed, after "dkms remove"
	@if [ -e $(DESTDIR)/var/lib/dkms/beeunwind/$(version) ]; then \
		echo "uninstall-dkms: DKMS knows it still: dkms remove beeunwind/$(version) --all" >&2; exit 1; \
	fi
	rm -rf $(dkms_source)

.PHONY: release
release:		## Pack the last commit: build/release/beeunwind-VERSION.tar.xz
	@packaging/release

.PHONY: deb
deb:			## Make Debian packages: build/deb/*.deb
	@packaging/deb

.PHONY: rpm
rpm:			## Make RPM packages: build/rpm/*.rpm
	@packaging/rpm

.PHONY: setup
setup:			## Install the Debian packages that the tests need
	@selftests/setup check

.PHONY: check
check: setup		## Run all tests, in guests of KERNELS too
	@selftests/run --kernels "$(KERNELS)"

more_kernels = $(if $(filter file,$(origin KERNELS)),6.12-rt newest-rt $(alike))
# The same sources as those above, but for an older release and fewer drivers.
alike	     = 7.2 6.12-cloud newest-cloud

.PHONY: check-all
check-all: setup	## Run all tests, long ones too, on KERNELS and more; compile for COMPILE
	@BEE_LONG=1 selftests/run $(if $(CONTINUE),--continue) \
		--kernels "$(KERNELS) $(more_kernels)" --once "$(alike)" --compile "$(COMPILE)"

.PHONY: check-fast
check-fast:		## Run what an edit of one file can break, in seconds
	@selftests/run --fast

.PHONY: check-host
check-host:		## Run all tests that need no guest
	@selftests/run --group unit --group golden --group cli --group system --group sync --group static

.PHONY: check-vm
check-vm: setup		## Run the module's tests in guests of KERNELS
	@selftests/run --group kmod --kernels "$(KERNELS)"

.PHONY: check-debug
check-debug:		## Run the module's tests on DEBUG_KERNELS, built to find mistakes
	@selftests/setup debug
	@selftests/run --group kmod --group vm --kernels "$(DEBUG_KERNELS)" kmod/ debug/ vm/test_nmi

torture_kernels = $(if $(filter file,$(origin KERNELS)),debug) $(KERNELS)

.PHONY: torture
torture:		## Change processes for SECONDS under NMIs, in guests of KERNELS and debug
	@selftests/setup $(if $(filter debug%,$(torture_kernels)),debug,check)
	@selftests/vm/torture $(SECONDS) $(torture_kernels)

.PHONY: demo
demo:			## Show complete stacks of stock programs, in one screen
	@selftests/setup demo
	@selftests/demo

.PHONY: oracle
oracle: setup		## Compare 2,500 samples of each of 13 programs with libdw's stacks, in guests
	@selftests/system/oracle/full $(KERNELS)

.PHONY: fuzz
fuzz:			## Feed parsers and writers broken input, each for T seconds
	@$(MAKE) --no-print-directory -C selftests/fuzz run T=$(T)

.PHONY: bench
bench:			## Measure tables of a fixed corpus (DEBS, DIR, STACKS, FILES)
	@selftests/setup bench
	@$(MAKE) --no-print-directory -C selftests/bench run

.PHONY: bench-walk
bench-walk:		## Time walks of recorded stacks, beside other unwinders (WALK: options)
	@selftests/setup bench
	@$(MAKE) --no-print-directory -C selftests/bench/walk run

.PHONY: bench-guest
bench-guest:		## Count instructions of walks, mappings, recordings and loads, in guests (GUEST: parts)
	@selftests/setup demo
	@$(MAKE) --no-print-directory -C selftests/bench/guest run

.PHONY: doc
doc:			## Build the documentation into build/doc/html
	@$(MAKE) --no-print-directory -C Documentation

.PHONY: compile_commands.json
compile_commands.json:	## Write how each C file is compiled, for clangd; the module once it is built
	@selftests/compile_commands tools $(patsubst %,selftests/%,unit system kmod system/oracle bench fuzz) >$@

.PHONY: clean
clean:			## Remove what was built; downloaded kernels stay
	@if [ -e tools/Makefile ]; then $(MAKE) --no-print-directory -C tools clean; fi
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name vm -exec rm -rf {} +; fi
	@rm -rf beeunwind.ko beectl beectl-draw.so out compile_commands.json

.PHONY: distclean
distclean: clean	## Remove downloaded kernels too
	@rm -rf build

.PHONY: help
help:			## List the targets
	@sed -n 's/^\([a-z_.-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 24
	@echo "  V=1 shows commands, W=1 turns on more warnings."
