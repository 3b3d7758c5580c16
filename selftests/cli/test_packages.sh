#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The release, made twice, builds without git, and the Debian packages made of it have the files that
# they should.  selftests/packages installs them.
# slow: 1
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"
need gcc

version=$(sed -n 's/.*BEE_VERSION[^"]*"\(.*\)"/\1/p' "$tree/tools/util/version.h")
release=build/release/beeunwind-$version.tar.xz
source=$work/beeunwind-$version

# What git does not know of, as a commit of a clone: so that it is in the release too.
commit() {
	git -c safe.directory='*' clone -q "$tree" "$work/first" &&
		(cd "$work/first" && git rm -qr . && git clean -qfdx) &&
		"$tree/packaging/copy-sources" "$work/first" && cd "$work/first" && git add -A &&
		git -c user.name=test -c user.email=test@test.invalid commit -q --allow-empty -m test &&
		make -s release
}

# In another place, at another time, with other modes and time zone.
same_bytes() {
	git clone -q "$work/first" "$work/second" && cd "$work/second" || return 1
	chmod -R go= . && find . -path ./.git -prune -o -exec touch -h -d @0 {} +
	(umask 077 && TZ=Asia/Tokyo make -s release) && cmp "$work/first/$release" "$release"
}

# Nothing but what git has, nothing left out, and no owner of this machine.
has_the_sources() {
	tar -tvf "$work/first/$release" | grep -v ' root/root ' && return 1
	tar -tf "$work/first/$release" | sed -n "s,^beeunwind-$version/\(.*[^/]\)$,\1,p" | LC_ALL=C sort >"$work/packed"
	git -C "$work/first" ls-tree -r --name-only HEAD | LC_ALL=C sort | diff - "$work/packed"
}

# without_git CMD...: in the unpacked release, where git fails
without_git() {
	mkdir -p "$work/bin" && printf '#!/bin/sh\necho "git is run: $*" >&2\nexit 1\n' >"$work/bin/git" &&
		chmod +x "$work/bin/git" && cd "$source" &&
		PATH=$work/bin:$PATH DEB_BUILD_OPTIONS="noopt parallel=$(nproc)" "$@"
}

unpack() {
	tar -C "$work" -xf "$work/first/$release"
}

builds_tool() {
	unpack && without_git make -s tools CFLAGS=-O0 && [ "$("$source/beectl" --version)" = "$("$beectl" --version)" ]
}

# They find the sources of a release, too, and a mistake in them.
static_tests_run() {
	unpack && without_git selftests/static/test_static.sh || return 1
	printf 'trailing white space \n' >>"$source/README"
	without_git selftests/static/test_static.sh >"$work/static"
	grep -x 'not ok .* no trailing white space' "$work/static"
}

builds_debs() {
	unpack && find "$source/debian" | sort >"$work/debian" && without_git make -s deb || return 1
	find "$source/debian" | sort | diff "$work/debian" - && ls "$source"/build/deb/*.deb
}

# files_of PACKAGE: of its files all but the module's sources, with their modes.  debhelper chooses
# where units are, and which files are large enough to be compressed.
files_of() {
	dpkg-deb -c "$source/build/deb/$1"_*.deb | awk '$1 !~ /^d/ { print $1, $2, $6 }' |
		sed 's,\./usr/lib/systemd,./lib/systemd,; s,\.gz$,,' | grep -v '/kmod/' | LC_ALL=C sort -k3
}

beectl_files() {
	files_of beectl | diff - <(cat <<-'END'
		-rw-r--r-- root/root ./lib/systemd/system/beeunwind.service
		-rw-r--r-- root/root ./usr/lib/beeunwind/beectl-draw.so
		-rwxr-xr-x root/root ./usr/sbin/beectl
		-rw-r--r-- root/root ./usr/share/bash-completion/completions/beectl
		-rw-r--r-- root/root ./usr/share/doc/beectl/README
		-rw-r--r-- root/root ./usr/share/doc/beectl/changelog
		-rw-r--r-- root/root ./usr/share/doc/beectl/changelog.Debian
		-rw-r--r-- root/root ./usr/share/doc/beectl/comparison.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/completeness.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/copyright
		-rw-r--r-- root/root ./usr/share/doc/beectl/design.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/encoder.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/faq.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/flame.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/install.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/java.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/jit.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/json.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/lookup.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/security.rst
		-rw-r--r-- root/root ./usr/share/doc/beectl/stop-reasons.rst
		-rw-r--r-- root/root ./usr/share/man/man8/beectl.8
	END
	)
}

# All of kmod/, too: what DKMS builds is the module of this tree.
dkms_files() {
	files_of beeunwind-dkms | diff - <(sed "s,VERSION,$version," <<-'END'
		-rw-r--r-- root/root ./usr/share/doc/beeunwind-dkms/changelog
		-rw-r--r-- root/root ./usr/share/doc/beeunwind-dkms/changelog.Debian
		-rw-r--r-- root/root ./usr/share/doc/beeunwind-dkms/copyright
		-rw-r--r-- root/root ./usr/src/beeunwind-VERSION/Kbuild
		-rw-r--r-- root/root ./usr/src/beeunwind-VERSION/dkms.conf
		-rw-r--r-- root/root ./usr/src/beeunwind-VERSION/include/uapi/linux/beeunwind.h
		-rw-r--r-- root/root ./usr/src/beeunwind-VERSION/include/uapi/linux/beeunwind_heaps.h
		-rw-r--r-- root/root ./usr/src/beeunwind-VERSION/include/uapi/linux/beeunwind_table.h
	END
	) || return 1
	dpkg-deb -x "$source"/build/deb/beeunwind-dkms_*.deb "$work/dkms" &&
		diff -r "$source/kmod" "$work/dkms/usr/src/beeunwind-$version/kmod" &&
		diff "$source/dkms.conf" "$work/dkms/usr/src/beeunwind-$version/dkms.conf"
}

# The service is not enabled or started, its cache does not outlive the package, DKMS is asked.
scripts() {
	local control=$work/control
	dpkg-deb -e "$source"/build/deb/beectl_*.deb "$control" || return 1
	grep -q "rm -rf /var/cache/beeunwind$" "$control/postrm" &&
		grep -q 'deb-systemd-helper purge' "$control/postrm" || return 1
	if grep -E 'deb-systemd-invoke start|deb-systemd-invoke \$_dh_action|was-enabled.*enable' "$control/postinst"; then
		return 1
	fi
	# An administrator may have started it: then it goes on after an upgrade, and ends with the package.
	grep -q 'deb-systemd-invoke try-restart' "$control/postinst" && ! grep -s 'invoke stop' "$control/preinst" &&
		grep -q 'deb-systemd-invoke stop' "$control/prerm" || return 1
	dpkg-deb -e "$source"/build/deb/beeunwind-dkms_*.deb "$work/control-dkms" &&
		grep -q 'DKMS_NAME=beeunwind$' "$work/control-dkms/postinst" &&
		dpkg-deb -f "$source"/build/deb/beeunwind-dkms_*.deb Depends | grep -q dkms
}

lintian_is_silent() {
	(cd "$source/build/deb" && lintian --allow-root --fail-on none beeunwind_*.changes) 2>&1 | tee "$work/lintian"
	[ ! -s "$work/lintian" ]
}

spec_parses() {
	rpmspec -q --qf '%{name} %{version}\n' "$tree/packaging/beeunwind.spec" 2>&1 | tee "$work/spec"
	grep -x "beectl $version" "$work/spec" && grep -x "beeunwind-dkms $version" "$work/spec"
}

# For each kernel with headers, as each has its own directory for modules of others.
removes_module() {
	local build
	cd "$source" || return
	for build in /lib/modules/*/build; do
		[ -e "$build/Makefile" ] || continue
		make -s install-module KDIR="$build" DESTDIR="$work/module" &&
			find "$work/module" -name 'beeunwind.ko*' | grep . &&
			make -s uninstall-module KDIR="$build" DESTDIR="$work/module" || return
		if find "$work/module" -name 'beeunwind.ko*' | grep .; then
			return 1
		fi
	done
}

ktap_plan 11
if command -v git >/dev/null && [ -e "$tree/.git" ]; then
	ktap_run "make release succeeds" commit
	ktap_run "make release gives the same bytes for a commit" same_bytes
	ktap_run "a release has the sources" has_the_sources
else
	for name in "make release succeeds" "make release gives the same bytes for a commit" \
		"a release has the sources"; do
		ktap_skip "$name" "not a git tree"
	done
	mkdir -p "$work/first/build/release" "$source" && "$tree/packaging/copy-sources" "$source" &&
		tar -C "$work" -cJf "$work/first/$release" "beeunwind-$version"
fi
ktap_run "static tests of a release work without git" static_tests_run
if ! command -v dpkg-buildpackage >/dev/null; then
	missing="dpkg-dev: not installed"
elif ! missing=$(cd "$tree" && dpkg-checkbuilddeps 2>&1); then
	missing=${missing#*error: }
else
	missing=
fi
if [ -n "$missing" ]; then
	ktap_run "a release builds packages without git" builds_tool
	for name in "the package beectl has its files" "the package beeunwind-dkms has its files" \
		"maintainer scripts of the packages are right" "lintian finds nothing in the packages"; do
		ktap_skip "$name" "$missing"
	done
else
	ktap_run "a release builds packages without git" builds_debs
	ktap_run "the package beectl has its files" beectl_files
	ktap_run "the package beeunwind-dkms has its files" dkms_files
	ktap_run "maintainer scripts of the packages are right" scripts
	if command -v lintian >/dev/null; then
		ktap_run "lintian finds nothing in the packages" lintian_is_silent
	else
		ktap_skip "lintian finds nothing in the packages" "lintian: not installed"
	fi
fi
if compgen -G "/lib/modules/*/build/Makefile" >/dev/null; then
	ktap_run "make uninstall-module removes what install-module has installed" removes_module
else
	ktap_skip "make uninstall-module removes what install-module has installed" "no kernel headers"
fi
if command -v rpmspec >/dev/null; then
	ktap_run "the spec of RPM parses" spec_parses
else
	ktap_skip "the spec of RPM parses" "rpmspec (rpm): not installed"
fi
ktap_finish
