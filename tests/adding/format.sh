# SPDX-License-Identifier: MIT
# An input format: a file, its two functions in a header, a row, a paragraph, a test.
# shellcheck shell=sh disable=SC2154

add_format() {
	add src/formats/ops.c << 'END'
/* SPDX-License-Identifier: MIT */
/* Lines "+NAME SIZE" and "-NAME" behind the line "ops". */
#include "formats/readers.h"

#include <stdio.h>
#include <string.h>

#include "trace/build.h"

#define LINE 64

bool gp_ops_is(const unsigned char *at, size_t n)
{
	return n >= 4 && !memcmp(at, "ops\n", 4);
}

static bool next_line(struct gp_source *source, char line[LINE])
{
	const unsigned char *end;
	size_t n;

	if (!gp_source_need(source, LINE) && source->at == source->end)
		return false;
	n = (size_t)(source->end - source->at);
	end = memchr(source->at, '\n', n);
	n = end ? (size_t)(end - source->at) : n;
	snprintf(line, LINE, "%.*s", (int)(n < LINE ? n : LINE - 1),
		 (const char *)source->at);
	source->at += end ? n + 1 : n;
	return true;
}

static enum gp_status read_line(struct gp_build *build, const char *line,
				struct gp_diag *diag)
{
	struct gp_event event = { .kind = GP_ALLOC, .site = GP_NO_SITE };
	unsigned long long name, size = 0;

	if (sscanf(line, "+%llu %llu", &name, &size) != 2) {
		event.kind = GP_FREE;
		if (sscanf(line, "-%llu", &name) != 1)
			return gp_diag_set(diag, GP_INPUT,
					   "its line %s is not understood",
					   line);
	}
	event.size = size;
	gp_build_event(build, 0, &event, name);
	return GP_OK;
}

enum gp_status gp_ops_read(struct gp_source *source, struct gp_trace **trace,
			   struct gp_diag *diag)
{
	struct gp_build *build = gp_build_create(GP_BUILD_REQUESTS);
	enum gp_status status;
	uint32_t device;
	char line[LINE];

	status = gp_build_device(build, 0, &device, diag);
	next_line(source, line);
	while (status == GP_OK && next_line(source, line))
		status = read_line(build, line, diag);
	if (status == GP_OK)
		status = source->status;
	if (status == GP_OK) {
		gp_build_source(build, "ops");
		return gp_build_finish(build, trace, diag);
	}
	gp_build_destroy(build);
	return status;
}
END
	insert src/formats/readers.h '^/[*] RMM' << 'END'
/* Lines "+NAME SIZE" and "-NAME" behind the line "ops". */
gp_reader_is gp_ops_is;
gp_reader_read gp_ops_read;

END
	insert src/formats/readers.c '^	{ { "RMM log"' << 'END'
	{ { "ops", "Lines +NAME SIZE and -NAME.", NULL }, gp_ops_is,
	  gp_ops_read },
END
	insert man/gpupool-trace.5 '^.It RMM' << 'END'
.It ops
Lines +NAME SIZE and -NAME, behind the line ops.
END
}

# Where formats are listed.
say_format() {
	answers imports
}

try_format() {
	grep -q '^|   ops  ' tests/cli/imports.test ||
		echo "help formats does not name it"
	printf 'ops\n+1 4096\n+2 512\n-1\n' > "$work/trace.ops"
	build/gpupool replay -q "$work/trace.ops" --format json |
		grep -q '"peak_allocated_bytes": 4608,' || echo "it is not read"
	printf 'ops\n*1 4096\n' | build/gpupool info - 2>&1 |
		grep -q 'its line \*1 4096 is not' || echo "it is not refused"
	gzip -c "$work/trace.ops" | build/gpupool info - |
		grep -q '3 events' || echo "it is not unpacked"
}
