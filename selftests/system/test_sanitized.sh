#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# slow: 1
# Tests of beectl's commands with the beectl of "make DEBUG=1", which has ASan and UBSan.
# test_input is left out: it traces beectl with ptrace, which LeakSanitizer needs for itself.  test_flame and
# test_flame_files take this beectl by themselves.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"

# What the test prints is nested in what this one prints: selftests/run counts nested results, and so
# what is skipped, too.
sanitized() {
	local status

	BEECTL=$beectl "$tree/selftests/$1.sh" >"$work/said" 2>&1 </dev/null
	status=$?
	sed 's/^/    /' "$work/said"
	case $status in
	0) ktap_ok "$1" ;;
	4) ktap_skip "$1" "$(sed -n 's/^1\.\.0 # SKIP //p' "$work/said")" ;;
	*) ktap_fail "$1" ;;
	esac
}

tests=(golden/test_asm cli/test_cli cli/test_lossy cli/test_size cli/test_verify cli/test_cache cli/test_flame_dwarf)
ktap_plan $((${#tests[@]} + 1))
sanitized_beectl
ktap_run "make DEBUG=1" test "$beectl" -ef "$tree/build/debug/beectl"
for name in "${tests[@]}"; do
	sanitized "$name"
done
ktap_finish
