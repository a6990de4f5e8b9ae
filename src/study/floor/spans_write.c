/* SPDX-License-Identifier: MIT */
/* Writing spans and a packing: minimalloc's CSV. */
#include <inttypes.h>

#include "study/floor/floor.h"

static void write_gaps(const struct gp_spans *spans, const struct gp_span *span,
		       FILE *out)
{
	for (uint32_t i = 0; i < span->gaps; i++) {
		const struct gp_span_gap *gap =
			&spans->gaps[span->first_gap + i];

		fprintf(out, "%s%" PRIu64 "-%" PRIu64, i ? " " : "", gap->lower,
			gap->upper);
		if (gap->to)
			fprintf(out, "@%" PRIu64 ":%" PRIu64, gap->from,
				gap->to);
	}
}

static void write_name(const struct gp_spans *spans, const uint64_t *names,
		       uint32_t id, FILE *out)
{
	if (spans->names)
		fputs(spans->names[id], out);
	else
		fprintf(out, "%" PRIu64, names ? names[id] : id);
}

void gp_spans_write(const struct gp_spans *spans, const uint64_t *offsets,
		    const uint64_t *names, FILE *out)
{
	fprintf(out, "id,lower,upper,size%s%s%s,offset\n",
		spans->has_align ? ",alignment" : "",
		spans->hints ? ",hint" : "", spans->has_gaps ? ",gaps" : "");
	for (size_t i = 0; i < spans->count; i++) {
		const struct gp_span *span = &spans->items[i];

		write_name(spans, names, span->id, out);
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, span->lower,
			span->upper, span->size);
		if (spans->has_align)
			fprintf(out, ",%" PRIu64, span->align);
		if (spans->hints)
			fprintf(out, ",%" PRId64, spans->hints[i]);
		if (spans->has_gaps) {
			putc(',', out);
			write_gaps(spans, span, out);
		}
		fprintf(out, ",%" PRIu64 "\n", offsets[i]);
	}
}
