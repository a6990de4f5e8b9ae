# SPDX-License-Identifier: MIT
# gpupool for a browser: build/gpupool.wasm, by Debian's clang, lld and
# wasi-libc.  Included by the Makefile; `make wasm`.

W := $(B)/wasm
WASM := $(B)/gpupool.wasm
WASM_CC ?= clang
# What runs programs, loads libraries or talks to a device is left out: what the
# rest asks of it is answered in src/commands/wasm/left_out.c.
WASM_SHARED := $(filter-out src/simcuda/% src/record/% src/device/cuda/% \
	src/allocator/torch/% src/allocator/plugin/% src/allocator/channel.c \
	$(addprefix src/commands/,bench.c check.c child.c doctor.c \
	fit.c installed.c live_page.c mcp.c mcp_tools.c own_folder.c planner.c \
	record.c recorded.c recording.c verify.c) src/report/bench.c,$(SRC))
WASM_SRC := $(WASM_SHARED) $(wildcard src/commands/wasm/*.c src/base/wasi/*.c)
WASM_TEXTS := $(filter src/%,$(TEXTS))
WASM_OBJ := $(WASM_SRC:%.c=$(W)/obj/%.o) $(WASM_TEXTS:%=$(W)/obj/%.o)
WASM_LIBS := $(W)/libs
WASM_TARGET := --target=wasm32-wasi -O2 -msign-ext \
	-mnontrapping-fptoint -fno-math-errno \
	-D_WASI_EMULATED_MMAN -Wno-deprecated-declarations
WASM_COMPILE = $(WASM_CC) $(WASM_TARGET) -std=c11 -D_GNU_SOURCE -Iinclude \
	-Isrc -isystem src/base/wasi -isystem $(WASM_LIBS) \
	$(WARNINGS) -Wno-sign-compare
WASM_FOREIGN = $(WASM_CC) $(WASM_TARGET) -w -I$(WASM_LIBS) \
	-DHAVE_STDINT_H -DHAVE_UNISTD_H -DHAVE_SYS_TYPES_H -DZSTD_DISABLE_ASM \
	-DZSTD_LEGACY_SUPPORT=0 -DDYNAMIC_BMI2=0
WASM_LINK = $(WASM_CC) $(WASM_TARGET) -mexec-model=reactor \
	-Wl,--strip-all,--gc-sections -Wl,-z,stack-size=4194304 \
	-lwasi-emulated-mman

# The page as a folder, for a server, and as one file, for a mail.
PAGE_FOLDER := $(B)/page
PAGE_FILE := $(B)/gpupool.html

wasm: $(WASM) $(PAGE_FILE) $(PAGE_FOLDER)/index.html ## the page that replays, build/gpupool.html and build/page

# What gpupool puts into pages.
$(WASM).gz: $(WASM)
	$(Q)gzip -9nc $< > $@

$(PAGE_FILE): $(PROGRAM) $(WASM).gz
	$(call say,PAGE)
	$(Q)$(PROGRAM) page -o $@

$(PAGE_FOLDER)/index.html: $(WASM) $(APP_MODULES) $(WORKER_MODULES) \
		$(addprefix $(PAGE)/,page.css head.html app.html)
	$(call say,PAGE)
	@mkdir -p $(@D)
	$(Q)cp $(filter-out %.html,$^) $(@D)
	$(Q)cat $(PAGE)/head.html $(PAGE)/app.html > $@

$(WASM): $(WASM_OBJ) $(WASM_LIBS)/libs.a
	$(call say,LINK)
	$(Q)$(WASM_LINK) -o $@ $(WASM_OBJ) $(WASM_LIBS)/libs.a

# That left_out.c answers all that is asked, found without wasm's packages.
wasm-whole: $(WASM_SHARED:%.c=$(B)/obj/%.o) $(WASM_TEXTS:%=$(B)/obj/%.o)
	$(Q)$(COMPILE) $(FOR_LIBRARY) -shared -Wl,-z,defs -o /dev/null $^ \
		src/commands/wasm/left_out.c $(LDFLAGS) $(LIBS)

$(WASM_OBJ): $(WASM_LIBS)/libs.a

$(W)/.packages:
	@WASM_CC=$(call quote,$(WASM_CC)) scripts/packages.sh $(if $(WASM_OFFLINE),--no-install) wasm
	@mkdir -p $(@D) && touch $@

$(W)/obj/%.o: %.c src/commands/wasm/wasm.mk
	$(call say,WASM)
	@mkdir -p $(@D)
	$(Q)$(WASM_COMPILE) -MMD -MP -c -o $@ $<

$(WASM_TEXTS:%=$(W)/obj/%.o): $(W)/obj/%.o: $(B)/texts/%.c
	$(call say,WASM)
	@mkdir -p $(@D)
	$(Q)$(WASM_COMPILE) -c -o $@ $<

# jansson, zlib and zstd, from their sources, with the few lines that their
# configure scripts would write.
$(W)/src/done: scripts/library-sources.sh | $(W)/.packages
	$(call say,FETCH)
	$(Q)scripts/library-sources.sh $(@D)

$(WASM_LIBS)/libs.a: $(W)/src/done src/commands/wasm/libraries.sh
	$(call say,WASM)
	$(Q)src/commands/wasm/libraries.sh $(W)/src $(@D) "$(WASM_FOREIGN)"

-include $(shell find $(W)/obj -name '*.d' 2>/dev/null)
