# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# KTAP results for shell tests.  Source it, then:
#
#	ktap_plan N			N results follow (0: ktap_skip_all instead)
#	ktap_run "name" cmd...		ok when cmd succeeds; its output is shown when not
#	ktap_ok/ktap_fail "name"	a result decided by the caller
#	ktap_skip "name" "why"
#	ktap_skip_all "why"		the whole file cannot run here; exits
#	ktap_diag text			comment
#	ktap_finish			exits 0, 1 (something failed) or 4 (nothing ran)

# Tests read what programs print, in order.
export LC_ALL=C.UTF-8

KTAP_PLAN=
KTAP_COUNT=0
KTAP_FAILED=0
KTAP_SKIPPED=0

ktap_plan() {
	KTAP_PLAN=$1
	printf 'TAP version 13\n1..%d\n' "$1"
}

ktap_diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

ktap_ok() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	printf 'ok %d %s\n' "$KTAP_COUNT" "$1"
}

ktap_fail() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	KTAP_FAILED=$((KTAP_FAILED + 1))
	printf 'not ok %d %s\n' "$KTAP_COUNT" "$1"
}

ktap_skip() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	KTAP_SKIPPED=$((KTAP_SKIPPED + 1))
	printf 'ok %d %s # SKIP %s\n' "$KTAP_COUNT" "$1" "$2"
}

ktap_skip_all() {
	printf 'TAP version 13\n1..0 # SKIP %s\n' "$1"
	exit 4
}

# In the condition of "if" bash ignores errexit, also inside the command.  Hence the command runs
# in a subshell, whose status is read afterwards.
ktap_run() {
	local name=$1 log status errexit=$-
	shift
	log=$(mktemp)
	set +e
	(
		case $errexit in *e*) set -e ;; esac
		"$@"
	) >"$log" 2>&1 </dev/null
	status=$?
	case $errexit in *e*) set -e ;; esac
	if [ "$status" -eq 0 ]; then
		ktap_ok "$name"
	else
		sed 's/^/# /' "$log"
		ktap_diag "status $status: $*"
		ktap_fail "$name"
	fi
	rm -f "$log"
}

ktap_finish() {
	if [ -z "$KTAP_PLAN" ]; then
		printf 'TAP version 13\n1..%d\n' "$KTAP_COUNT"
	elif [ "$KTAP_PLAN" -ne "$KTAP_COUNT" ]; then
		ktap_diag "planned $KTAP_PLAN, ran $KTAP_COUNT"
		exit 1
	fi
	printf '# Totals: pass:%d fail:%d skip:%d\n' \
		$((KTAP_COUNT - KTAP_FAILED - KTAP_SKIPPED)) "$KTAP_FAILED" "$KTAP_SKIPPED"
	[ "$KTAP_FAILED" -eq 0 ] || exit 1
	[ "$KTAP_COUNT" -gt "$KTAP_SKIPPED" ] || exit 4
	exit 0
}
