# SPDX-License-Identifier: GPL-2.0-only
# What the makefiles of programs share.  They include this, add to FLAGS, and name what is made of
# what; the recipes are COMPILE, LINK and ARCHIVE.  `make V=1` shows the commands, `make -s` nothing.
#   OUT    folder for what is made, by default below build/
#   FLAGS  the project's own; CPPFLAGS, CFLAGS and LDFLAGS are left to who calls make

TOP := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)
CORE := $(TOP)/dm-ressd/core
PKG_CONFIG ?= pkg-config
ifeq ($(origin CC),default)
CC := gcc
endif

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
FLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(WARNINGS)
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all

# Core in userspace, with the kernel's names that it uses.
CORE_SOURCES := $(wildcard $(CORE)/*.c $(CORE)/port/*.c)
CORE_INCLUDES := -I$(CORE)/port -I$(CORE)

# $(call objects,FOLDER,SOURCES): where $(FOLDER)/%.o: $(TOP)/%.c puts them.
objects = $(patsubst $(TOP)/%.c,$(1)/%.o,$(abspath $(2)))
# -include $(call depends,FOLDER)
depends = $(shell find $(1) -name '*.d' 2>/dev/null)

silent := $(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS))))
say = mkdir -p $(@D) && \
	$(if $(V),set -x,$(if $(silent),:,echo '  $(1)	$(patsubst $(TOP)/%,%,$(2))'))
COMPILE = @$(call say,CC,$<); $(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
LINK = @$(call say,LINK,$@); $(CC) $(FLAGS) $(CFLAGS) $(LDFLAGS) -o $@ \
	$(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(MORE_LIBS)
# Members of the same name stay apart.
ARCHIVE = @$(call say,AR,$@); rm -f $@ && $(AR) qcs $@ $^

# Core and userspace/lib, as shipped and with the sanitizers; the mechanics of the emulated drives.
LIBRARY := $(TOP)/build/tools/lib.a
SANITIZED_LIBRARY := $(TOP)/build/tools-test/lib.a
DRIVES := $(TOP)/build/ssdsim/drives.a

# Another makefile's, made by it, once at a time.
elsewhere = +@mkdir -p $(TOP)/build && flock $(TOP)/build/libraries.lock \
	$(MAKE) -s silent=$(silent) --no-print-directory -C $(TOP)/$(1) OUT=$(2) $@
ifneq ($(CURDIR),$(TOP)/userspace)
$(LIBRARY) $(SANITIZED_LIBRARY): FORCE
	$(call elsewhere,userspace,$(TOP)/build)
endif
ifneq ($(CURDIR),$(TOP)/tests/ssdsim/test)
$(DRIVES): FORCE
	$(call elsewhere,tests/ssdsim/test,$(TOP)/build/ssdsim)
endif

.DEFAULT_GOAL := all
.PHONY: FORCE
.SECONDARY:
