# SPDX-License-Identifier: GPL-2.0
# Shared by the Makefiles of the tests, which set "top" before they include this.  tools/rooms.mk
# defines the rooms, the packages, Q and say.
.DEFAULT_GOAL := all
# DEBUG=1 on the command line is meant for beectl; each test says itself whether it has sanitizers.
override DEBUG := $(sanitized)
include $(top)/tools/rooms.mk

# A test may include the headers of all rooms, and those of the module.
test_cppflags	:= $(rooms_cppflags) $(rooms:%=-iquote $(top)/tools/%) -iquote $(top) \
		   -iquote $(top)/kmod -iquote $(top)/selftests
test_cflags	:= -std=gnu11 $(warnings)
libbee		:= $(top)/build/tools/libbee.a

$(libbee): FORCE
	$(Q)$(MAKE) -s --no-print-directory -C $(top)/tools DEBUG= lib

FORCE:
.PHONY: all clean FORCE
