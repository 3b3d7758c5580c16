#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# compile_test with an argument: each byte of a small ELF file's structures gets several values.
program=$(dirname "$0")/../../build/selftests/unit/table/compile_test
make -s --no-print-directory -C "$(dirname "$0")/../unit" "../../build/selftests/unit/table/compile_test" >&2 &&
	exec "$program" all
