# SPDX-License-Identifier: GPL-2.0
# What the Makefiles of the tests share.  They set "top" before they include this; tools/rooms.mk
# has the rooms, the packages, Q and say.
.DEFAULT_GOAL := all
# DEBUG=1 of a command line is for beectl: some tests have sanitizers, the others have none.
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
