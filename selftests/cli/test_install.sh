#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Which files "make install" installs, from a tree in which only beectl is built.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"

# The man page is made anew, elsewhere than in the tree's own build directory.
install_tools() {
	make -s -C "$tree/tools" install DESTDIR="$work" PREFIX=/usr man="$work/made/beectl.8"
}

installed() {
	find "$work" -type f -perm "$1" | grep -x "$work$2"
}

# The installed program finds it.
library_is_found() {
	installed 755 /usr/lib/beeunwind/beectl-draw.so && "$work/usr/sbin/beectl" flame --help >/dev/null
}

man_page_is_good() {
	installed 644 /usr/share/man/man8/beectl.8 &&
		mandoc -T lint -W error "$work/usr/share/man/man8/beectl.8"
}

unit=/usr/lib/systemd/system/beeunwind.service

# The unit starts the installed program.
service_is_good() {
	installed 644 "$unit" && grep '^ExecStart=/usr/sbin/beectl watch$' "$work$unit"
}

# complaints: print what systemd says of $work/beeunwind.service.  It may say more, of the machine, hence
# the status is not judged.
complaints() {
	systemd-analyze verify --man=no "$work/beeunwind.service" 2>&1 | tee /dev/stderr |
		grep beeunwind.service:
}

# With a line that it cannot know, systemd has to complain.
service_is_accepted() {
	sed "s,^ExecStart=,&$work," "$work$unit" >"$work/beeunwind.service" || return 1
	! complaints && sed -i '/^ExecStart=/i Nonsense=1' "$work/beeunwind.service" &&
		complaints | grep "'Nonsense'"
}

# A version that DKMS knows and has no sources of makes each "dkms autoinstall" fail, and apt with it.
dkms_keeps_sources() {
	local dir=$work/dkms version
	version=$(sed -n 's/.*BEE_VERSION[^"]*"\(.*\)"/\1/p' "$tree/tools/util/version.h")
	make -s -C "$tree" install-dkms DESTDIR="$dir" && mkdir -p "$dir/var/lib/dkms/beeunwind/$version" || return 1
	if make -s -C "$tree" uninstall-dkms DESTDIR="$dir" 2>"$work/refusal"; then
		return 1
	fi
	grep "dkms remove beeunwind/$version --all" "$work/refusal" &&
		[ -e "$dir/usr/src/beeunwind-$version/dkms.conf" ] && rm -r "${dir:?}/var" &&
		make -s -C "$tree" uninstall-dkms DESTDIR="$dir" && [ ! -e "$dir/usr/src/beeunwind-$version" ]
}

# modules: print the modules that are installed below $work/kernels
modules() {
	find "$work/kernels" -name 'beeunwind.ko*' -printf '%P\n' | sort
}

# KVER= names one kernel; without it those of all go, but not DKMS's.
uninstall_modules() {
	local release
	for release in old new; do
		mkdir -p "$work/kernels/lib/modules/$release/updates/dkms" &&
			touch "$work/kernels/lib/modules/$release/updates/"{,dkms/}beeunwind.ko || return
	done
	env -u MAKEFLAGS -u KDIR -u KVER make -s -C "$tree" uninstall-module DESTDIR="$work/kernels" KVER=old &&
		! modules | grep -x lib/modules/old/updates/beeunwind.ko &&
		modules | grep -x lib/modules/new/updates/beeunwind.ko &&
		env -u MAKEFLAGS -u KDIR -u KVER make -s -C "$tree" uninstall-module DESTDIR="$work/kernels" &&
		modules | diff - <(printf '%s\n' lib/modules/{new,old}/updates/dkms/beeunwind.ko)
}

# Two "make ko" at once, for a kernel of our own.  A build fails there if another one goes on.
builds_take_turns() {
	local kernel=$work/kernel first
	mkdir -p "$kernel/include/generated" && echo '#define UTS_RELEASE "1.0.0-turns"' \
		>"$kernel/include/generated/utsrelease.h" &&
		printf 'modules:\n\tmkdir $M/.tmp_1\n\tsleep 1\n\trmdir $M/.tmp_1\n' >"$kernel/Makefile" || return
	make -s -C "$tree" ko KDIR="$kernel" &
	first=$!
	make -s -C "$tree" ko KDIR="$kernel" && wait "$first"
}

# The last test: nothing is left of what was installed.
uninstall_tools() {
	[ "$(find "$work/usr" -type f | wc -l)" -ge 3 ] &&
		make -s -C "$tree" uninstall-tool DESTDIR="$work" PREFIX=/usr && ! find "$work/usr" -type f | grep .
}

ktap_plan 11
ktap_run "make install succeeds" install_tools
ktap_run "beectl is installed" installed 755 /usr/sbin/beectl
ktap_run "beectl-draw.so is installed where beectl looks for it" library_is_found
ktap_run "the bash completion is installed" installed 644 /usr/share/bash-completion/completions/beectl
ktap_run "the systemd unit is installed" service_is_good
if command -v systemd-analyze >/dev/null; then
	ktap_run "systemd accepts the settings of the unit" service_is_accepted
else
	ktap_skip "systemd accepts the settings of the unit" "systemd-analyze: not installed"
fi
if ! command -v rst2man >/dev/null; then
	ktap_skip "the man page is installed" "rst2man (python3-docutils): not installed"
elif ! command -v mandoc >/dev/null; then
	ktap_skip "the man page is installed" "mandoc: not installed"
else
	ktap_run "the man page is installed" man_page_is_good
fi
ktap_run "make uninstall-dkms wants DKMS to forget the module first" dkms_keeps_sources
ktap_run "make uninstall-module removes the module" uninstall_modules
ktap_run "builds of the module for one kernel take turns" builds_take_turns
rm -r "$tree/build/kmod/1.0.0-turns"
ktap_run "make uninstall-tool removes all that make install-tool has installed" uninstall_tools
ktap_finish
