/* SPDX-License-Identifier: MIT */
/* Reads and writes the traces in a user's files. */
#include "commands/trace_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/larger.h"
#include "base/mem.h"
#include "commands/output.h"
#include "commands/session.h"
#include "report/verdict.h"
#include "trace/draft.h"
#include "trace/ranks.h"

/* ---- a stream that compresses: a stdio stream with its own write
 * (fopencookie) ---- */

#define ROOM	   (64 << 10) /* bytes packed before they are written */
#define GZIP_BITS  (15 + 16)  /* the largest window, and gzip's frame */
#define ZSTD_LEVEL 3

struct pack {
	FILE *under;
	enum gp_packing packing;
	z_stream gzip;
	ZSTD_CCtx *zstd;
	unsigned char room[ROOM];
};

static bool put(struct pack *pack, size_t length)
{
	return fwrite(pack->room, 1, length, pack->under) == length;
}

static bool put_gzip(struct pack *pack, const char *data, size_t size, bool end)
{
	int answer;

	pack->gzip.next_in = (unsigned char *)(uintptr_t)data;
	pack->gzip.avail_in = (uInt)size;
	do {
		pack->gzip.next_out = pack->room;
		pack->gzip.avail_out = ROOM;
		answer = deflate(&pack->gzip, end ? Z_FINISH : Z_NO_FLUSH);
		if (answer == Z_STREAM_ERROR ||
		    !put(pack, ROOM - pack->gzip.avail_out))
			return false;
	} while (!pack->gzip.avail_out);
	return true;
}

static bool put_zstd(struct pack *pack, const char *data, size_t size, bool end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { pack->room, ROOM, 0 };

		left = ZSTD_compressStream2(pack->zstd, &out, &in,
					    end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left) || !put(pack, out.pos))
			return false;
	} while (end ? left != 0 : in.pos < in.size);
	return true;
}

static bool put_packed(struct pack *pack, const char *data, size_t size,
		       bool end)
{
	return pack->packing == GP_PACK_GZIP ? put_gzip(pack, data, size, end)
					     : put_zstd(pack, data, size, end);
}

static ssize_t write_packed(void *cookie, const char *data, size_t size)
{
	return put_packed(cookie, data, size, false) ? (ssize_t)size : 0;
}

static int close_packed(void *cookie)
{
	struct pack *pack = cookie;
	bool is_good = put_packed(pack, NULL, 0, true);

	if (pack->packing == GP_PACK_GZIP)
		deflateEnd(&pack->gzip);
	else
		ZSTD_freeCCtx(pack->zstd);
	free(pack);
	return is_good ? 0 : EOF;
}

static bool begin(struct pack *pack)
{
	if (pack->packing == GP_PACK_GZIP)
		return deflateInit2(&pack->gzip, Z_DEFAULT_COMPRESSION,
				    Z_DEFLATED, GZIP_BITS, 8,
				    Z_DEFAULT_STRATEGY) == Z_OK;
	pack->zstd = ZSTD_createCCtx();
	return pack->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(
		       pack->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd,
						    ZSTD_c_checksumFlag, 1));
}

/* A stream that compresses into under; closing it writes the rest. */
static FILE *open_packed(FILE *under, enum gp_packing packing)
{
	static const cookie_io_functions_t calls = { .write = write_packed,
						     .close = close_packed };
	struct pack *pack = gp_mem_alloc(1, sizeof(*pack));
	FILE *stream = NULL;

	pack->under = under;
	pack->packing = packing;
	if (begin(pack))
		stream = fopencookie(pack, "w", calls);
	if (!stream)
		free(pack);
	return stream;
}

enum gp_status gp_pack_write(FILE *under, enum gp_packing packing,
			     enum gp_status (*write)(void *arg, FILE *out,
						     struct gp_diag *diag),
			     void *arg, struct gp_diag *diag)
{
	enum gp_status status;
	FILE *out;

	if (packing == GP_PACK_NONE)
		return write(arg, under, diag);
	out = open_packed(under, packing);
	if (!out)
		return gp_diag_set(diag, GP_SYSTEM, "it cannot be compressed");
	status = write(arg, out, diag);
	if (fclose(out) && status == GP_OK)
		status = gp_diag_set(diag, GP_SYSTEM,
				     "it cannot be written compressed");
	return status;
}

/* ---- reading ---- */

static enum gp_status input_of(const struct gp_input_config *config,
			       const struct gp_unknown_input *unknown,
			       struct gp_trace **trace, struct gp_diag *diag)
{
	*trace = gp_session_held(config->path);
	if (*trace)
		return GP_OK;
	if (gp_outlet_is_redirected() && !strcmp(config->path, "-"))
		return gp_diag_set(diag, GP_USAGE,
				   "there is no standard input to read");
	if (!gp_session_may_read(config->path))
		return gp_diag_set(diag, GP_INPUT,
				   "it leads out of the folders that may be "
				   "read");
	return gp_input_read_or(config, unknown, trace, diag);
}

enum gp_status gp_trace_file_input(const struct gp_input_config *config,
				   struct gp_trace **trace,
				   struct gp_diag *diag)
{
	const struct gp_unknown_input nobody = { NULL, NULL };

	return input_of(config, &nobody, trace, diag);
}

enum gp_status gp_trace_file_read(const char *path,
				  struct gp_progress *progress,
				  struct gp_trace **trace, struct gp_diag *diag)
{
	struct gp_input_config config = {
		.path = path,
		.most_bytes = progress->max_input,
		.progress = gp_progress_read,
		.progress_arg = progress,
		.is_of_host = progress->is_of_host,
	};

	return input_of(&config, &progress->unknown, trace, diag);
}

enum gp_status gp_trace_file_is_idle(const struct gp_trace *trace,
				     const char *path, struct gp_diag *diag)
{
	bool has_state = false;

	for (size_t i = 0; i < trace->device_count; i++)
		has_state |= gp_trace_has_state(&trace->devices[i]);
	gp_diag_file(diag, path);
	if (!has_state) {
		gp_diag_hint(diag, "to record, call torch.cuda.memory."
				   "_record_memory_history() before the work "
				   "and _dump_snapshot(\"file.pickle\") after "
				   "it");
		return gp_diag_foreign(diag,
				       "the file holds nothing: no segments "
				       "and no requests");
	}
	gp_diag_hint(diag,
		     "gpupool explain says what holds it; for requests, call "
		     "%s before the snapshot",
		     verdict_record_call(trace->release.last));
	return gp_diag_foreign(diag,
			       "the file has no requests to replay, only the "
			       "state of the memory");
}

enum gp_status gp_trace_file_read_requests(const char *path,
					   struct gp_progress *progress,
					   struct gp_trace **trace,
					   struct gp_diag *diag)
{
	enum gp_status status = gp_trace_file_read(path, progress, trace, diag);

	if (status != GP_OK || gp_trace_has_requests(*trace))
		return status;
	status = gp_trace_file_is_idle(*trace, path, diag);
	gp_trace_destroy(*trace);
	*trace = NULL;
	return status;
}

uint64_t gp_trace_moments(const struct gp_trace *trace)
{
	uint64_t moments = 1;

	for (size_t i = 0; i < trace->device_count; i++)
		moments = gp_larger(moments, trace->devices[i].event_count);
	return moments;
}

enum gp_status gp_check_event(uint64_t event, uint64_t moments,
			      const char *flag, uint64_t given,
			      struct gp_diag *diag)
{
	if (event < moments)
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE, "--%s %llu: the last event is %llu",
			   flag, (unsigned long long)given,
			   (unsigned long long)moments - 1);
}

/* ---- the format of a file to be written ---- */

static const struct {
	const char *suffix;
	enum gp_format asked;
	enum gp_trace_format format;
} forms[] = {
	{ ".json", GP_FORMAT_JSON, GP_TRACE_JSON },
	{ ".jsonl", GP_FORMAT_JSONL, GP_TRACE_JSONL },
	{ ".gpt", GP_FORMAT_BINARY, GP_TRACE_BINARY },
	{ ".bin", GP_FORMAT_BINARY, GP_TRACE_BINARY },
};

static const struct {
	const char *suffix;
	enum gp_packing packing;
} packings[] = {
	{ ".gz", GP_PACK_GZIP },
	{ ".zst", GP_PACK_ZSTD },
};

bool gp_path_ends(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);

	return length >= n && !strncmp(text + length - n, suffix, n);
}

enum gp_packing gp_packing_of(const char *path, size_t *length)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++) {
		if (!gp_path_ends(path, *length, packings[i].suffix))
			continue;
		*length -= strlen(packings[i].suffix);
		return packings[i].packing;
	}
	return GP_PACK_NONE;
}

static enum gp_status by_name(const struct gp_options *options,
			      const char *path, struct gp_trace_form *form,
			      struct gp_diag *diag)
{
	size_t length = strlen(path);

	form->packing = gp_packing_of(path, &length);
	form->is_anonymous = options->anonymous;
	form->format = GP_TRACE_JSON;
	if (options->format == GP_FORMAT_BY_NAME && !strcmp(path, "-"))
		return GP_OK;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (options->format != GP_FORMAT_BY_NAME
			    ? options->format != forms[i].asked
			    : !gp_path_ends(path, length, forms[i].suffix))
			continue;
		form->format = forms[i].format;
		return GP_OK;
	}
	gp_diag_hint(diag, "give --format json, jsonl or binary");
	return gp_diag_set(diag, GP_USAGE,
			   "the ending of %s is not a known format", path);
}

/* Refuses to write binary data to a terminal. */
static enum gp_status check_terminal(const char *path,
				     const struct gp_trace_form *form,
				     struct gp_diag *diag)
{
	if (strcmp(path, "-") != 0 || form->format != GP_TRACE_BINARY ||
	    !gp_outlet_is_terminal(gp_outlet_stdout()))
		return GP_OK;
	gp_diag_hint(diag, "name a file, or a pipe");
	return gp_diag_set(diag, GP_USAGE,
			   "the binary form is not for a terminal");
}

enum gp_status gp_trace_form_of(const struct gp_options *options,
				const char *path, struct gp_trace_form *form,
				struct gp_diag *diag)
{
	enum gp_status status = by_name(options, path, form, diag);

	if (status == GP_OK)
		status = check_terminal(path, form, diag);
	return status;
}

/* ---- writing ---- */

struct writing {
	const struct gp_trace *trace;
	enum gp_trace_format format;
};

static enum gp_status write_trace(void *arg, FILE *out, struct gp_diag *diag)
{
	const struct writing *writing = arg;

	return gp_trace_write(writing->trace, writing->format, out, diag);
}

static enum gp_status write_named(const struct gp_trace *trace,
				  const struct gp_trace_form *form,
				  const char *path, struct gp_diag *diag)
{
	struct writing writing = { trace, form->format };
	struct gp_output output;
	enum gp_status status = gp_outlet_open(&output, path, diag);

	if (status != GP_OK)
		return status;
	status = gp_pack_write(output.stream, form->packing, write_trace,
			       &writing, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_trace_file_write(const struct gp_trace *trace,
				   const struct gp_trace_form *form,
				   const char *path, struct gp_diag *diag)
{
	struct gp_trace *anonymous;
	enum gp_status status;

	if (!form->is_anonymous)
		return write_named(trace, form, path, diag);
	anonymous = gp_trace_anonymous(trace);
	status = write_named(anonymous, form, path, diag);
	gp_trace_destroy(anonymous);
	return status;
}
