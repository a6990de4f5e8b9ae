# SPDX-License-Identifier: MIT
# gpupool: `make help` lists the targets.
#
# The default build is build/gpupool.  A variant (another compiler, sanitizers,
# DEBUG=1) has its own folder, build/<variant>/, so that switching between
# variants rebuilds nothing.

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

# ---- what the user may set ------------------------------------------------

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
AR = ar
LD = ld
OBJCOPY = objcopy
CFLAGS ?= $(if $(DEBUG),-O0 -g3,-O2 -g)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SAN ?=
WHOLE ?= $(COVERAGE)
COVERAGE ?=
DEBUG ?=
WERROR ?=
V ?=
FUZZ_RUNS ?=
FUZZ_SECONDS ?=
FUZZ_ENGINE ?= -fsanitize=fuzzer
DRAWS ?= 0
CASES ?= 2000
SEED ?= 0
CLASS ?=

# ---- output folders -------------------------------------------------------

comma := ,
empty :=
space := $(empty) $(empty)

# Words of the variant: compiler, sanitizers, and what else is set.
compiler := $(notdir $(lastword $(CC)))
variant := $(filter-out gcc cc,$(compiler)) $(subst $(comma), ,$(SAN)) \
	$(if $(DEBUG),debug) $(if $(WERROR),werror) \
	$(if $(COVERAGE),coverage,$(if $(WHOLE),whole))
variant := $(subst $(space),-,$(strip \
	$(if $(filter gcc cc,$(compiler)),$(if $(strip $(variant)),gcc)) \
	$(variant)))
B := build$(if $(variant),/$(variant))

# ---- how things are compiled ----------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef -Wvla \
	-Wformat=2 -Wno-format-nonliteral $(if $(WERROR),-Werror)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer)
# assert() and unreachable(), which no input may reach, are not counted.
# Counters are kept in their file itself, so that processes that are killed have
# counted, too; those of processes without an environment are in this one. A
# file is named with its folder: otherwise, static functions of the same name in
# two files of the same name are counted as one, and only one of them is
# reported.
COUNT := $(if $(COVERAGE),-fprofile-instr-generate=$(CURDIR)/$(B)/away/%c%m \
	-fcoverage-mapping)
COUNTED = $(if $(COVERAGE),-mllvm -runtime-counter-relocation -DNDEBUG \
	-Wno-unused -Xclang -main-file-name -Xclang $<)

pkg_libs = $(shell pkg-config --libs $(1) 2>/dev/null)
LIBS := $(or $(call pkg_libs,jansson zlib libzstd),-ljansson -lz -lzstd) \
	-lm -ldl -pthread

has_tool = $(shell command -v $(firstword $(1)) 2>/dev/null)

# Check is a static archive; without pkg-config, look for Debian's name of its
# position-independent form and of what that needs.
has_lib = $(findstring /,$(shell $(CC) -print-file-name=$(1)))
CHECK_LIBS = $(eval CHECK_LIBS := $$(or $$(call pkg_libs,check),\
	-lcheck$$(if $$(call has_lib,libcheck_pic.a),_pic) \
	$$(if $$(call has_lib,libsubunit.so),-lsubunit) -lrt -lm) \
	-pthread)$(CHECK_LIBS)

COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -Iinclude -Isrc $(CPPFLAGS) \
	$(WARNINGS) -pthread $(CFLAGS) $(SANITIZE) $(COUNT) $(COUNTED)
# Declarations in include/gpupool are exported, and nothing else.
FOR_LIBRARY := -fPIC -fno-semantic-interposition \
	$(if $(WHOLE),,-fvisibility=hidden)
RPATH := $(if $(WHOLE),-Wl$(comma)-rpath$(comma)$(CURDIR)/$(B)/obj)
LINK = $(CC) $(CFLAGS) $(SANITIZE) $(COUNT) -Wl,--as-needed $(RPATH) $(LDFLAGS)

# ---- sources --------------------------------------------------------------

find_c = $(sort $(wildcard $(foreach d,* */* */*/* */*/*/*,$(1)/$(d).c)))
SRC := $(filter-out src/commands/main.c src/commands/wasm/% src/base/wasi/%,$(call find_c,src))
# Scripts, and the page's files, whose contents become part of the program.
TEXTS := $(addprefix src/report/page/,page.css tables.js app.html) \
	$(addprefix $(B)/bundle/,app_bundle.js worker_bundle.js) \
	src/commands/find_torch.py $(wildcard src/commands/pages/*.mdoc)
OBJ := $(SRC:%.c=$(B)/obj/%.o) $(TEXTS:%=$(B)/obj/%.o)
# WHOLE: the parts of the program and of its tests as one shared library, in
# which a single file is replaced without linking all of them. It does not have
# CUDA's functions, which would precede those of a runtime that is loaded, nor
# gpupool-torch, a separate program.
SIM_OBJ := $(filter $(B)/obj/src/simcuda/%,$(OBJ))
WHOLE_OBJ := $(filter-out $(SIM_OBJ) %/allocator/torch/helper.o,$(OBJ))
SIM_LIB := $(if $(WHOLE),$(B)/obj/simcuda.a)
MAIN := $(B)/obj/src/commands/main.o
LIB := $(B)/obj/gpupool.$(if $(WHOLE),so,a)
PROGRAM := $(B)/gpupool

# The library: everything except the program's first lines and what runs in
# other people's programs, with only the names of include/gpupool. The number
# after .so is increased when programs must be compiled again.
PUBLIC_SRC := $(filter-out src/allocator/torch/helper.c,$(filter $(addprefix \
	src/,base/% device/% allocator/% trace/% formats/% replay/% study/% \
	report/% commands/% record/%),$(SRC)))
PUBLIC_OBJ := $(PUBLIC_SRC:%.c=$(B)/obj/%.o) $(TEXTS:%=$(B)/obj/%.o)
SONAME := libgpupool.so.0
STATIC := $(B)/libgpupool.a
SHARED := $(B)/$(SONAME)
CHECKS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c \
	tests/contract/test_*.c tests/conform/test_*.c)))
CONFORM_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard \
	tests/conform/parts/*.c)))
CONFORM := $(patsubst %,$(B)/tests/conform/%,generate shrink drive)
TOOLS := $(B)/tests/tools/json $(B)/tests/tools/keys \
	$(B)/tests/tools/one_change $(B)/tests/tools/plans
EXAMPLES := $(patsubst %.c,$(B)/%,$(sort $(wildcard examples/*.c))) \
	$(if $(call has_tool,$(CXX)),$(patsubst %.cc,$(B)/%,$(sort \
	$(wildcard examples/*.cc))))
FUZZERS := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
MANUALS := $(sort $(wildcard man/*.[1-9]))
C_FILES = $(sort $(shell find include src tests examples -name '*.[ch]' -o \
	-name '*.cc' -o -name '*.hh'))

# What PyTorch programs run on under `gpupool record`: the runtime without a
# device, for each of CUDA's versions.
CUDAS := 12 13
SIMCUDA := $(CUDAS:%=$(B)/simcuda/%/libgpupool-simcuda.so)
SIMCUDA_SRC := $(wildcard src/simcuda/*.c src/simcuda/program/*.c) \
	src/device/sim.c src/device/space.c \
	src/base/map.c src/base/mem.c src/base/utf8.c \
	src/record/plans_wire.c \
	$(patsubst %,$(B)/texts/%.c,$(wildcard src/simcuda/program/*.py))

# The commands in a few words; V=1 shows them in full.
Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-5s%s\n' '$(1)' '$@')

# ---- the program ----------------------------------------------------------

all: $(PROGRAM) lib $(SIMCUDA) $(B)/gpupool-report.schema.json ## the program, build/gpupool (the default)

$(B)/gpupool-report.schema.json: $(PROGRAM)
	$(Q)$(PROGRAM) help report-schema > $@

lib: $(STATIC) $(SHARED) ## the library, build/libgpupool.a and .so.0

$(PROGRAM): $(MAIN) $(LIB) $(B)/.link
	$(call say,LINK)
	$(Q)$(LINK) -o $@ $(MAIN) $(LIB) $(LIBS)

$(SIM_LIB): $(SIM_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $(SIM_OBJ)

$(LIB): $(OBJ) $(B)/.link | $(SIM_LIB)
	$(call say,AR)
	$(Q)rm -f $@ && $(if $(WHOLE),$(LINK) -shared -o $@ \
		-Wl$(comma)-soname$(comma)$(@F) $(WHOLE_OBJ) $(LIBS),$(AR) rcs $@ \
		$(OBJ))

# The library's own functions are called directly. Linkers without this option
# have -Bsymbolic, which breaks programs that copy its tables.
SYMBOLIC := -Wl,-Bsymbolic-functions

# A single object, so that its parts find each other but nobody else finds them.
$(STATIC): $(PUBLIC_OBJ) $(B)/.link
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(LD) -r -o $(@:.a=.o) $(PUBLIC_OBJ)
	$(Q)$(OBJCOPY) --localize-hidden $(@:.a=.o)
	$(Q)$(AR) rcs $@ $(@:.a=.o) && rm $(@:.a=.o)

$(SHARED): $(PUBLIC_OBJ) src/gpupool.map $(B)/.link
	$(call say,SO)
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=src/gpupool.map $(SYMBOLIC) \
		-o $@ $(PUBLIC_OBJ) $(LIBS)
	$(Q)ln -sf $(SONAME) $(@:.0=)

$(B)/obj/%.o: %.c $(B)/.compile | $(B)/.packages
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(FOR_LIBRARY) -MMD -MP -c -o $@ $<

# A text as C: page.css becomes gp_page_css.
$(B)/texts/%.c: % Makefile
	@mkdir -p $(@D)
	$(Q)name=gp_$(subst .,_,$(notdir $<)); { \
		echo "extern const char $$name[];"; \
		echo "const char $$name[] = {"; \
		od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g'; echo '0};'; } > $@

# The page's modules as one script: a module follows those that it imports.
PAGE := src/report/page
APP_MODULES := $(addprefix $(PAGE)/,common.js bands.js events.js judge.js \
	holders.js map.js chart.js knobs.js asker.js origin.js run.js views.js \
	app.js)
WORKER_MODULES := $(addprefix $(PAGE)/,engine.js worker.js)

$(B)/bundle/app_bundle.js: $(APP_MODULES)
$(B)/bundle/worker_bundle.js: $(WORKER_MODULES)
$(B)/bundle/%.js: scripts/bundle.awk Makefile
	@mkdir -p $(@D)
	$(Q)awk -f scripts/bundle.awk $(filter %.js,$^) > $@

$(TEXTS:%=$(B)/obj/%.o): $(B)/obj/%.o: $(B)/texts/%.c $(B)/.compile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(FOR_LIBRARY) -c -o $@ $<

# Runs in other people's programs, so it is built without sanitizers and
# counters.
IN_OTHERS = -fsanitize% -fno-sanitize% -fprofile% -fcoverage% \
	-mllvm -runtime-counter% -Xclang -main-file-name $<
$(B)/simcuda/%/libgpupool-simcuda.so: $(SIMCUDA_SRC) $(B)/.compile \
		$(wildcard src/simcuda/*.h src/simcuda/*/*.h include/gpupool/*.h)
	$(call say,SO)
	@mkdir -p $(@D)
	$(Q)$(filter-out $(IN_OTHERS),$(COMPILE)) -fPIC -shared \
		-fvisibility=default -DSIMCUDA_MAJOR=$* \
		-Wl,-soname,$(@F) -Dsimcuda_exit=_exit $(LDFLAGS) \
		-o $@ $(SIMCUDA_SRC) -ldl -lm

# Files with the options of the build. Each is written only when its contents
# change, so that what depends on it is then built again.
quote = '$(subst ','\'',$(1))'
define remember
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(1)) | cmp -s - $@ || \
		printf '%s\n' $(call quote,$(1)) > $@
endef

$(B)/.compile: FORCE
	$(call remember,$(COMPILE) $(FOR_LIBRARY) $(shell $(CC) --version 2>&1 | head -n 1))

$(B)/.link: FORCE
	$(call remember,$(LINK) $(LIBS) $(OBJ))

# Names missing packages before the compiler does, in fewer words.
$(B)/.packages:
	@CC=$(call quote,$(CC)) scripts/packages.sh --no-install build
	@mkdir -p $(@D) && touch $@

FORCE:

include src/commands/wasm/wasm.mk

# ---- tests ----------------------------------------------------------------

# Packages come first; then a separate make, which sees them.
check: ## every test; the last line counts them
	@CC=$(call quote,$(CC)) scripts/packages.sh build check
	@+$(MAKE) check-run

BUILT = $(PROGRAM) lib $(SIMCUDA) $(CHECKS) $(CONFORM) $(TOOLS) $(EXAMPLES)
SCRIPTS := tests/traces/bad.sh tests/traces/tiny.sh \
	tests/traces/round_trip.sh tests/traces/slices.sh \
	tests/traces/temporaries.sh tests/traces/windows.sh \
	tests/viewers/run.sh \
	tests/cli/snapshots.sh tests/cli/width.sh \
	tests/cli/first_screen.sh tests/cli/report_keys.sh \
	tests/cli/sweep_engine.sh tests/cli/sweep_all.sh \
	tests/cli/completions.sh tests/cli/gen_engine.sh \
	tests/traces/tiny_engine.sh tests/cli/engine_library.sh

check-run: $(BUILT)
	@BUILD=$(B) tests/run.sh $(CHECKS) tests/cli/run.sh $(SCRIPTS) \
		tests/cli/library.sh tests/adding/adding.sh \
		tests/browser/run.sh tests/browser/views.sh \
		tests/browser/page.sh \
		tests/action/run.sh tests/python/run.sh tests/mcp/run.sh \
		tests/docs/run.sh tests/docs/examples.sh tests/release/run.sh \
		tests/record/run.sh tests/gpu/run.sh tests/gpu/stand_in.sh \
		tests/gpu/headers.sh

# Tests that neither install packages nor use a network: for builds of packages.
check-offline: $(BUILT)
	@BUILD=$(B) tests/run.sh $(CHECKS) tests/cli/run.sh $(SCRIPTS)

# Each golden test by itself, so that the lines it runs are known; of the
# scripts, those about traces rather than about the form of reports.
ONE_BY_ONE = $(CHECKS) $(sort $(wildcard tests/cli/*.test)) \
	$(filter tests/traces/% %/snapshots.sh %/engine_library.sh \
	%/gen_engine.sh,$(SCRIPTS)) tests/cli/host_engines.sh

coverage: ## lines and branches that the tests run, by folder, with clang
	@+$(MAKE) CC=clang COVERAGE=1 coverage-run

# The public library is not tested here, and its single object cannot have
# counters like these. PyTorch's own allocator is included if make torch-engine
# prepared it.
coverage-run: $(filter-out lib $(EXAMPLES),$(BUILT))
	@[ ! -d build/torch ] || ln -sfn ../torch $(B)/torch
	@BUILD=$(B) tests/coverage/coverage.py $(ONE_BY_ONE)

CHANGES ?= 200
mutate: ## changes that no test notices: CHANGES=200 drawn by SEED
	@mkdir -p build
	@+$(MAKE) coverage > build/coverage.log || tail -n 5 build/coverage.log
	@+$(MAKE) WHOLE=1 CFLAGS=-O2 mutate-run DO='draw $(SEED) $(CHANGES)'
	@+$(MAKE) WHOLE=1 SAN=address,undefined mutate-run \
		DO='again $(SEED) $(CHANGES)'

mutate-kept: ## a few changes, each by the one test that must notice it
	@+$(MAKE) WHOLE=1 DEBUG=1 mutate-kept-run

KEPT = $(shell sed -n 's|.*	\(tests/unit/.*\)|$(B)/\1|p' \
	tests/mutate/kept.tsv | sort -u)
mutate-run: $(BUILT)
mutate-kept-run: $(PROGRAM) $(TOOLS) $(KEPT)
mutate-kept-run: DO = kept

mutate-run mutate-kept-run:
	@BUILD=$(B) COMPILE=$(call quote,$(COMPILE) $(FOR_LIBRARY)) \
		LINK=$(call quote,$(LINK) -shared $(WHOLE_OBJ) $(LIBS)) \
		tests/mutate/mutate.py $(DO)

# Tests with threads; the thread sanitizer is too slow for the others.
THREADED = $(filter $(addprefix $(B)/tests/,unit/test_thread_pool unit/test_gate \
	unit/test_headroom unit/test_ask unit/test_simcuda% contract/%), \
	$(CHECKS))

check-threads: $(PROGRAM) $(SIMCUDA) $(THREADED) $(TOOLS) ## what has threads; with SAN=thread
	@BUILD=$(B) ONLY='gpupool (check|headroom|suggest|sweep)' tests/run.sh \
		$(THREADED) tests/cli/run.sh tests/cli/sweep_engine.sh

gpu: ## all that needs a GPU; results in build/gpu-results
	@scripts/gpu.sh

gpu-pack: ## build/gpu, for a machine with a GPU and without a compiler
	@CC=$(call quote,$(CC)) scripts/gpu-pack.sh

FROM ?= build/gpu-results
gpu-keep: ## put such results, of FROM=FOLDER, into the tree
	@scripts/gpu-keep.sh $(FROM)

browser-test: $(PROGRAM) ## pages and views of a run in headless Chromium and Firefox
	@BUILD=$(B) tests/run.sh tests/browser/run.sh \
		tests/browser/views.sh tests/browser/page.sh

page-test: ## the page that replays, built and in browsers; skipped without wasm's packages
	@if scripts/packages.sh wasm && $(MAKE) $(B)/wasm/src/done; then \
		$(MAKE) wasm || exit 1; fi; \
		BUILD=$(B) tests/run.sh tests/browser/page.sh

viewers-test: $(PROGRAM) ## what convert --run writes, in other people's viewers
	@BUILD=$(B) tests/run.sh tests/viewers/run.sh

# Removes a single change of a release.
$(B)/tests/tools/one_change: LDFLAGS += -Wl,--wrap=gp_release_has

table: $(PROGRAM) $(TOOLS) ## docs/engines.md, docs/releases.md: on the tree's traces
	@scripts/releases.sh $(PROGRAM) $(B)/tests/tools/one_change \
		> docs/releases.md
	@scripts/table.sh $(PROGRAM) > docs/engines.md

windows-test: $(PROGRAM) ## estimates for windows, beside the whole programs
	@BUILD=$(B) tests/run.sh tests/windows/run.sh

reports-test: $(PROGRAM) ## what reports say, beside another model
	@tests/reports/held.py --gpupool $(PROGRAM) \
		--seed $(SEED) --count $(CASES)

screenshot: $(PROGRAM) ## the picture in README.md, with headless Chromium
	@scripts/screenshot.sh $(PROGRAM) man/images/page.png

tests: $(CHECKS) $(TOOLS) $(EXAMPLES) ## build the tests, run none

# Like a program outside of the tree: it sees only the public headers.
$(B)/examples/%: examples/%.c $(STATIC) $(B)/.compile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(filter-out -Isrc,$(COMPILE)) -MMD -MP -MT $@ -MF $@.d -o $@ $< \
		$(LDFLAGS) $(STATIC) $(LIBS)

$(B)/examples/%: examples/%.cc $(STATIC) $(B)/.compile
	$(call say,CXX)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -Iinclude -Wall -Wextra -pthread $(CFLAGS) \
		$(SANITIZE) -MMD -MP -MT $@ -MF $@.d -o $@ $< $(LDFLAGS) \
		$(STATIC) $(LIBS)

$(B)/tests/unit/% $(B)/tests/contract/%: TEST_LIBS = $(CHECK_LIBS)
# Libraries that it loads look up a symbol in it.
$(B)/tests/unit/test_object: TEST_LIBS = $(CHECK_LIBS) -rdynamic -ldl
$(B)/tests/fuzz/%: TEST_LIBS = $(FUZZ_ENGINE)
# Our objects need the library, which the rule names before them.
$(B)/tests/conform/test_%: TEST_LIBS = $(CONFORM_OBJ) $(LIB) $(CHECK_LIBS)
$(CONFORM): TEST_LIBS = $(CONFORM_OBJ) $(LIB)
$(CONFORM) $(filter $(B)/tests/conform/%,$(CHECKS)): $(CONFORM_OBJ)

$(B)/tests/%: tests/%.c $(LIB) $(B)/.compile
	$(call say,TEST)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -Itests -MMD -MP -MT $@ -MF $@.d -o $@ $< $(LDFLAGS) \
		$(RPATH) $(SIM_LIB) $(LIB) $(TEST_LIBS) $(LIBS)

conform: $(PROGRAM) $(CONFORM) ## made-up programs, beside PyTorch's own
	@BUILD=$(B) CASES=$(CASES) SEED=$(SEED) CLASS=$(CLASS) \
		tests/conform/run.sh $(TORCH)

bench: $(PROGRAM) ## how fast things are, as ratios; KEEP=1: the baseline anew
	@BUILD=$(B) KEEP=$(KEEP) tests/bench/run.sh

accuracy: all ## fit beside trainings measured on GPUs: TABLE=FILE PYTHON=FILE ROWS=N
	@tests/accuracy/run.py $(TABLE) --gpupool $(PROGRAM) \
		--keep $(B)/accuracy.csv $(PYTHON:%=--python %) \
		$(ROWS:%=--rows %)

conform-record: $(CONFORM) ## their goldens anew, from PyTorch's own allocator
	@BUILD=$(B) tests/conform/record.sh $(TORCH)

slurm-check: $(PROGRAM) ## a sweep split over three machines by Slurm
	@BUILD=$(B) tests/run.sh tests/slurm/run.sh

fuzz: ## damaged inputs, the same ones each time; FUZZ_SECONDS=N: others
	@scripts/packages.sh build fuzz
	@+$(MAKE) CC=clang SAN=fuzzer-no-link,address,undefined fuzz-run

fuzz-targets: $(FUZZERS)

fuzz-run: $(FUZZERS)
	@BUILD=$(B) RUNS=$(FUZZ_RUNS) SECONDS_EACH=$(FUZZ_SECONDS) \
		tests/run.sh tests/fuzz/run.sh

$(B)/tests/fault/fault.so: tests/fault/fault.c tests/fault/page.h $(B)/.compile
	$(call say,SO)
	@mkdir -p $(@D)
	$(Q)$(filter-out $(IN_OTHERS),$(COMPILE)) -fPIC -shared \
		-o $@ $< -ldl

FAULT = $(PROGRAM) $(B)/tests/fault/drive $(B)/tests/fault/fault.so
fault: $(FAULT) ## memory, files and threads that fail, each in turn; DRAWS=N of them
	@BUILD=$(B) DRAWS=$(DRAWS) SEED=$(SEED) tests/run.sh tests/fault/run.sh

lint: ## format, layers, headers, manuals, scripts
	@+$(MAKE) lint-run

lint-run: $(PROGRAM) $(TOOLS) wasm-whole
	@BUILD=$(B) tests/run.sh $(sort $(wildcard tests/lint/*.sh))

docs: $(PROGRAM) ## the manual pages as HTML, build/docs/index.html, with mandoc
	@scripts/docs.py $(PROGRAM) $(B)/docs

api: ## the public headers as pages, build/api/html, with Doxygen
	@mkdir -p $(B)/api
	@{ cat docs/Doxyfile; echo OUTPUT_DIRECTORY = $(B)/api; } | doxygen -

format: ## clang-format every source file in place
	clang-format-14 -i $(C_FILES)

# ---- PyTorch's own allocator ----------------------------------------------

TORCH ?= 2.15.0

torch-engine: ## fetch PyTorch's own allocator, TORCH="2.15.0 2.11.0"
	@for release in $(TORCH); do \
		CC=$(call quote,$(CC)) scripts/torch-engine.sh \
			"build/torch/$$release" "$$release" || exit; \
	done

# ---- for people -----------------------------------------------------------

record-test: ## programs recorded with PyTorch's wheel, TORCH=2.15.0
	@[ -n "$(VENV)" ] || tests/record/fetch.sh $(TORCH) \
		build/record/venv-$(TORCH)
	@+$(MAKE) record-test-run

record-test-run: all
	@BUILD=$(B) TORCH=$(TORCH) VENV=$(VENV) tests/run.sh \
		tests/record/run.sh

zoo: all ## programs over packages that people use; VENV=FOLDER [ZOO=OPTIONS]
	@tests/record/zoo/run.py --gpupool $(PROGRAM) --kept $(B)/zoo $(ZOO) \
		--python $(or $(VENV),$(B)/record/venv-zoo)/bin/python

# What needs only PyTorch, in ninety seconds.
zoo-check: all ## a part of the zoo, held to what arithmetic says of it
	@rm -rf $(B)/zoo-check
	@if tests/record/fetch.sh 2.11.0 $(B)/record/venv-2.11.0; then \
		tests/record/zoo/run.py --gpupool $(PROGRAM) --check \
			--kept $(B)/zoo-check --modes known,all \
			--only '^(arithmetic mlp|pools|2 ranks tensor)$$' \
			--python $(B)/record/venv-2.11.0/bin/python; \
	else \
		echo "skip zoo-check: PyTorch 2.11.0 cannot be fetched"; \
		echo "0 passed, 0 failed, 1 skipped"; \
	fi

demo: ## replay a real trace, then what one setting would change
	@CC=$(call quote,$(CC)) scripts/packages.sh build
	@+$(MAKE) demo-run

demo-run: $(PROGRAM)
	@scripts/demo.sh $(PROGRAM)

deps: ## install the packages that building and testing need
	@scripts/packages.sh build check

install: all ## program, manuals and licence under DESTDIR and PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/gpupool
	$(foreach c,$(CUDAS),$(call install_simcuda,$(c)))
	install -D -m 755 scripts/torch-engine.sh \
		$(DESTDIR)$(PREFIX)/share/gpupool/scripts/torch-engine.sh
	install -D -m 644 LICENSE \
		$(DESTDIR)$(PREFIX)/share/doc/gpupool/LICENSE
	$(foreach m,$(MANUALS),$(call install_manual,$(m)))
	install -d $(DESTDIR)$(PREFIX)/share/gpupool
	install -m 644 $(B)/gpupool-report.schema.json \
		$(DESTDIR)$(PREFIX)/share/gpupool/gpupool-report.schema.json
	$(foreach s,$(SHELLS),$(call install_completion,$(s)))
	install -D -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)/libgpupool.a
	install -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libgpupool.so
	$(foreach h,$(wildcard include/gpupool/*.h),$(call install_header,$(h)))
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' \
		include/gpupool.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/gpupool.pc
	[ ! -f $(WASM).gz ] || install -m 644 $(WASM).gz \
		$(DESTDIR)$(PREFIX)/share/gpupool/gpupool.wasm.gz
	$(foreach f,$(wildcard prices/*.json),$(call install_engine,$(f)))
	$(foreach f,$(ENGINE_FILES),$(call install_engine,$(f)))

# What --torch-lib needs to make an engine from a wheel.
ENGINE_FILES := $(sort $(wildcard include/gpupool/*.h src/base/*.[ch] \
	src/device/*.[ch] src/simcuda/*.[ch] src/simcuda/api/*.h \
	src/allocator/torch/*))

VERSION = $(shell sed -n 's/.*GP_VERSION "\(.*\)"/\1/p' include/gpupool/gpupool.h)

# Where each shell looks for completions.
SHELLS := bash zsh fish
COMPLETION_bash := share/bash-completion/completions/gpupool
COMPLETION_zsh := share/zsh/site-functions/_gpupool
COMPLETION_fish := share/fish/vendor_completions.d/gpupool.fish

define install_completion
	install -d $(DESTDIR)$(PREFIX)/$(dir $(COMPLETION_$(1)))
	$(PROGRAM) completions $(1) > $(DESTDIR)$(PREFIX)/$(COMPLETION_$(1))

endef

define install_header
	install -D -m 644 $(1) $(DESTDIR)$(PREFIX)/$(1)

endef

# What record runs programs on; the program looks for it relative to itself.
define install_simcuda
	install -D -m 755 $(B)/simcuda/$(1)/libgpupool-simcuda.so \
		$(DESTDIR)$(PREFIX)/lib/gpupool/simcuda/$(1)/libgpupool-simcuda.so

endef

define install_engine
	install -D -m 644 $(1) $(DESTDIR)$(PREFIX)/share/gpupool/$(1)

endef

define install_manual
	install -d $(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(1)))
	install -m 644 $(1) \
		$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(1)))

endef

deb: ## Debian's packages, build/release/*.deb, unsigned, of the last commit
	@scripts/release.sh build/release deb

release: ## all that is released, build/release, with checksums
	@scripts/release.sh build/release

release-check: ## a release, made twice: the same bytes
	@mkdir -p $(B) && BUILD=$(B) PARTS='$(PARTS)' \
		tests/run.sh tests/release/run.sh

uninstall: ## what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/gpupool $(foreach m,$(MANUALS),\
		$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix \
		$(m)))/$(notdir $(m)))
	rm -f $(DESTDIR)$(LIBDIR)/libgpupool.a \
		$(DESTDIR)$(LIBDIR)/libgpupool.so \
		$(DESTDIR)$(LIBDIR)/$(SONAME) \
		$(DESTDIR)$(LIBDIR)/pkgconfig/gpupool.pc
	rm -f $(foreach s,$(SHELLS),$(DESTDIR)$(PREFIX)/$(COMPLETION_$(s)))
	rm -rf $(DESTDIR)$(PREFIX)/include/gpupool \
		$(DESTDIR)$(PREFIX)/share/gpupool $(DESTDIR)$(PREFIX)/lib/gpupool \
		$(DESTDIR)$(PREFIX)/share/doc/gpupool

PLATFORMS ?= manylinux_x86_64
wheel: ## Python's wheel, build/wheel/*.whl: PLATFORMS=manylinux_x86_64...
	@scripts/wheel/wheel.sh $(PLATFORMS)

wheel-check: ## install the wheels of PLATFORMS and try them: TORCH_PYTHON=FILE
	@scripts/wheel/check.sh $(PLATFORMS)

clean: ## remove build/
	rm -rf build

help: ## this list
	@echo 'make [TARGET] [VARIABLE=VALUE]...'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1	\2/p' Makefile | \
		expand -t 14
	@echo
	@echo '  CC=clang      another compiler, in build/clang'
	@echo '  SAN=address,undefined   sanitizers (or thread), in their folder'
	@echo '  DEBUG=1       no optimisation'
	@echo '  WERROR=1      a warning stops the build'
	@echo '  V=1           show the commands'
	@echo '  PREFIX=/usr/local DESTDIR=   where install puts things'

.PHONY: all lib docs deb release release-check check check-run \
	check-offline check-threads gpu gpu-pack gpu-keep browser-test \
	screenshot viewers-test windows-test reports-test tests table fuzz fuzz-targets \
	fuzz-run fault lint lint-run wasm-whole format coverage coverage-run mutate \
	mutate-kept mutate-run mutate-kept-run record-test record-test-run \
	zoo zoo-check slurm-check wheel wheel-check bench conform \
	conform-record demo demo-run api torch-engine deps install uninstall clean help FORCE
.DEFAULT_GOAL := all

-include $(OBJ:.o=.d) $(MAIN:.o=.d) $(CHECKS:=.d) $(FUZZERS:=.d) $(TOOLS:=.d) \
	$(EXAMPLES:=.d) \
	$(CONFORM_OBJ:.o=.d) $(CONFORM:=.d)
