# SPDX-License-Identifier: GPL-2.0
# Test programs built with ASan and UBSan, each linked only with the objects that it needs.
# Included by unit/Makefile and system/Makefile, which set "build" and, for each test (TEST is the
# path of its source without the suffix),
#
#	TEST := ROOM/FILE ROOM ...	objects: of one file, or of all files of a room; or "none"
#
# Objects are those of "make DEBUG=1".
sanitized := 1
include $(top)/selftests/common.mk

tests	:= $(patsubst %.c,%,$(wildcard *_test.c */*_test.c))
$(foreach test,$(tests),$(if $($(test)),,$(error $(CURDIR)/Makefile does not say what $(test) is linked with)))

programs := $(addprefix $(build)/,$(tests))
# $(call objects_of,NAME...): the objects of files and rooms that are named as in TEST
objects_of = $(foreach name,$(filter-out none,$(1)),$(call room_objects,$(if $(findstring /,$(name)), \
	$(if $(filter kmod/%,$(name)),$(name).c,$(top)/tools/$(name).c),$(call room_sources,$(name)))))

all: $(programs)

list:
	@printf '%s\n' $(programs)

# All error texts of the validator, so that a test can check that it has seen each.
$(build)/reasons.h: $(top)/kmod/table_check.c $(top)/selftests/sanitized.mk
	$(Q)mkdir -p $(@D)
	$(Q)sed -n '/^#/d; /^ \*/d; s/^[^"]*\("[^"]* [^"]*"\).*/\1,/p' $< | sort -u >$@

$(build)/%.o: %.c $(build)/reasons.h Makefile $(top)/selftests/sanitized.mk $(top)/tools/rooms.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -I$(<D)/include $(test_cppflags) -I$(build) $(test_cflags) $(sanitizers) \
		$(CFLAGS) -MMD -MP -c -o $@ $<

$(programs): %: %.o
	$(call say,LD,$@)
	$(Q)$(CC) $(sanitizers) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(rooms_libs)

$(foreach test,$(tests),$(eval $(build)/$(test): $(call objects_of,$($(test)))))

clean:
	rm -rf $(build)

.PHONY: list
.SECONDARY:
-include $(programs:=.d)
