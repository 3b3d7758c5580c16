#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# Tests of beectl's commands with the beectl of "make DEBUG=1", which has ASan and UBSan.
# test_input is left out: it traces beectl with ptrace, which LeakSanitizer needs for itself.
# shellcheck source=selftests/lib/beectl.sh
. "$(dirname "$0")/../lib/beectl.sh"

tests=(golden/test_asm cli/test_cli cli/test_lossy cli/test_size cli/test_verify)
ktap_plan $((${#tests[@]} + 1))
ktap_run "make DEBUG=1" make -s --no-print-directory -C "$tree" DEBUG=1 tools
for name in "${tests[@]}"; do
	ktap_run "$name" env BEECTL="$tree/build/debug/beectl" "$tree/selftests/$name.sh"
done
ktap_finish
