/* SPDX-License-Identifier: MIT */
/* Trials as files, in the form of traces/tiny. */
#include "trial.h"

#include <inttypes.h>

static void print_pool(const struct op *op, FILE *out)
{
	if (op->pool.first || op->pool.second || op->kind != GP_EMPTY_CACHE)
		fprintf(out, ", \"pool\": [%" PRIu64 ", %" PRIu64 "]",
			op->pool.first, op->pool.second);
}

static bool names_stream(const struct op *op)
{
	switch (op->kind) {
	case GP_ALLOC: return op->stream;
	case GP_CAPTURE_BEGIN: return op->flags & GP_NAMES_STREAM;
	default: return gp_event_fields(op->kind) & GP_HAS_STREAM;
	}
}

static void print_op(const struct op *op, FILE *out)
{
	uint8_t fields = gp_event_fields(op->kind);

	fprintf(out, "  {\"op\": \"%s\"", gp_event_kind_name(op->kind));
	if ((fields & GP_HAS_ID) && op->kind != GP_SYNCHRONIZE)
		fprintf(out, ", \"id\": %" PRIu64, op->id);
	if (op->kind == GP_ALLOC)
		fprintf(out, ", \"size\": %" PRIu64, op->size);
	else if (op->kind == GP_OTHER_MEMORY)
		fprintf(out, ", \"bytes\": %" PRIu64, op->size);
	if (names_stream(op))
		fprintf(out, ", \"stream\": %" PRIu64, op->stream);
	if (op->flags & GP_STREAM_WAITS)
		fprintf(out, ", \"by\": %" PRIu64, op->by);
	if ((fields & GP_HAS_POOL) && op->kind != GP_ALLOC)
		print_pool(op, out);
	if (fields & GP_HAS_FRACTION)
		fprintf(out, ", \"fraction\": %.17g", op->fraction);
	if (fields & GP_HAS_TEXT)
		fprintf(out, ", \"conf\": \"%s\"", op->text);
	fprintf(out, "}");
}

static void print_device(const struct trial *trial, uint32_t device, FILE *out)
{
	const char *between = "";

	fprintf(out,
		"{\"device\": %" PRIu32 ", \"total_memory\": %" PRIu64
		", \"events\": [\n",
		device, trial->capacity);
	for (size_t i = 0; i < trial->count; i++) {
		if (trial->ops[i].device != device)
			continue;
		fputs(between, out);
		print_op(&trial->ops[i], out);
		between = ",\n";
	}
	fprintf(out, "]}");
}

static bool is_used(const struct trial *trial, uint32_t device)
{
	for (size_t i = 0; i < trial->count; i++)
		if (trial->ops[i].device == device)
			return true;
	return false;
}

static void print_head(const struct trial *trial, FILE *out)
{
	fprintf(out, "{\"format\": \"gpupool-trace\", \"version\": 1, "
		     "\"args\": [");
	if (*trial->release)
		fprintf(out, "\"--torch\", \"%s\", ", trial->release);
	fprintf(out,
		"\"--capacity\", \"%" PRIu64 "\", "
		"\"--alloc-conf\", \"%s\"],\n",
		trial->capacity, trial->conf);
	if (*trial->about)
		fprintf(out, " \"about\": \"%s\",\n", trial->about);
	fprintf(out,
		" \"source\": {\"kind\": \"gpupool-trace\", "
		"\"complete\": true},\n \"settings\": \"%s\",\n",
		trial->conf);
}

/* Nothing here needs escaping: about and conf are generated, or were read as
 * settings. */
void trial_print(const struct trial *trial, FILE *out)
{
	const char *between = "";
	uint32_t last = 0;

	print_head(trial, out);
	fprintf(out, " \"devices\": [");
	for (size_t i = 0; i < trial->count; i++)
		if (trial->ops[i].device > last)
			last = trial->ops[i].device;
	for (uint32_t device = 0; device <= last; device++) {
		if (!is_used(trial, device) && last)
			continue;
		fputs(between, out);
		print_device(trial, device, out);
		between = ",\n ";
	}
	fprintf(out, "]}\n");
}
