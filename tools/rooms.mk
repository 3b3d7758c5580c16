# SPDX-License-Identifier: GPL-2.0
# The rooms of tools/ and how their files are compiled: for tools/Makefile and for the tests,
# which set "top" first.

# From the bottom up, and the rooms whose headers each may include beside its own.  "kmod" is
# what the module shares with the tools.
rooms		:= util elf rows encode table verify jit netlink process perfdata flame beectl
of_util		:=
of_elf		:= util
of_rows		:= elf util kmod
of_encode	:= rows util kmod
of_table	:= encode rows elf util kmod
of_verify	:= rows elf util kmod
of_jit		:= table rows elf util kmod
of_netlink	:= util
of_process	:= netlink jit table rows elf util kmod
of_perfdata	:= util
of_flame	:= perfdata elf util
of_beectl	:= flame perfdata process netlink jit verify table rows elf util kmod
shared		:= kmod/table.c kmod/table_check.c

packages	:= libdw libelf zlib libnl-3.0 libnl-genl-3.0 json-c libmd libzstd libdeflate
WERROR		?= 1

# DEBUG=1 builds with sanitizers, into another directory.
ifeq ($(DEBUG),1)
CFLAGS		?= -O0 -g
sanitizers	:= -fsanitize=address,undefined -fno-sanitize-recover=all
built		:= $(top)/build/debug
else
CFLAGS		?= -O2 -g
sanitizers	:=
built		:= $(top)/build
endif

# $(call quoted,ROOM): where #include "..." looks
quoted = $(foreach room,$(of_$(1)),-iquote $(if $(filter kmod,$(room)),$(top),$(top)/tools/$(room)))

warnings	:= -Wall -Wextra -Wno-sign-compare -Wno-missing-field-initializers \
		   -Wno-format-truncation $(if $(filter 1,$(WERROR)),-Werror)
rooms_cppflags	:= -D_GNU_SOURCE -I$(top)/tools/include -I$(top)/include/uapi \
		   $(shell pkg-config --cflags $(packages))
rooms_cflags	:= -std=gnu11 $(warnings) -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
		   -Wpointer-arith -Wundef -Wwrite-strings -Wvla $(sanitizers)
# Zydis and libiberty come without files for pkg-config.
rooms_libs	:= $(shell pkg-config --libs $(packages)) -lZydis -liberty

# Strings in C of what an SVG file has beside the graph: svg.js becomes svg_js[].
svg_strings	:= $(built)/tools/flame/svg_strings.o

# $(call room_sources,ROOM...), and $(call room_objects,SOURCE...) of files below tools/ or kmod/
room_sources	= $(wildcard $(1:%=$(top)/tools/%/*.c))
room_objects	= $(patsubst $(top)/tools/%.c,$(built)/tools/%.o,$(patsubst kmod/%.c,$(built)/tools/kmod/%.o,$(1))) \
		  $(if $(filter %/flame/svg.c,$(1)),$(svg_strings))

# For beectl-draw.so, which tools/Makefile links: three rooms, and of the room beectl what only its commands need.
draw_rooms	:= verify perfdata flame
draw_obj	:= $(call room_objects,$(call room_sources,$(draw_rooms)) $(patsubst %,$(top)/tools/beectl/%.c, \
			cmd_flame cmd_record cmd_verify flame_options flame_summary memory_code perf_options unpack))
$(draw_obj): rooms_cflags += -fPIC

# V=1 shows commands, -s shows nothing.
Q	:= $(if $(filter 1,$(V)),,@)
ifneq ($(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),)
say	= @:
else
say	= @printf '  %-7s %s\n' $(1) $(patsubst $(top)/%,%,$(2:$(top)/build/%=%))
endif

# $(call compile,ROOM)
define compile
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(call quoted,$(1)) $(rooms_cppflags) $(CPPFLAGS) $(rooms_cflags) $(CFLAGS) \
		-MMD -MP -c -o $@ $<
endef

$(built)/tools/kmod/%.o: $(top)/kmod/%.c $(top)/tools/rooms.mk
	$(call compile,kmod)
$(svg_strings:.o=.c): $(top)/tools/flame/svg.js $(top)/tools/flame/svg.css $(top)/tools/rooms.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for type in js css; do \
		echo "const char svg_$$type[] ="; \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $(top)/tools/flame/svg.$$type; \
		echo ";"; \
	done >$@
$(svg_strings): $(svg_strings:.o=.c)
	$(call compile,flame)
$(built)/tools/%.o: $(top)/tools/%.c $(top)/tools/rooms.mk
	$(call compile,$(*D))

-include $(patsubst %.o,%.d,$(call room_objects,$(call room_sources,$(rooms)) $(shared)))
