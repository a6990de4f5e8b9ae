/* SPDX-License-Identifier: MIT */
/*
 * A report on the message of an OutOfMemoryError, if there is no trace: the
 * cause, as far as the message's few numbers show it, and how to record what
 * decides the rest.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "device/gpu.h"
#include "report/emit.h"
#include "report/page.h"
#include "report/report.h"

/* ---- the cause ---- */

/* Commands that show who holds a device's memory. */
static const char *const smi[] = {
	[OOM_OF_CUDA] = "nvidia-smi",
	[OOM_OF_HIP] = "rocm-smi",
	[OOM_OF_XPU] = "xpu-smi",
	[OOM_OF_MPS] = "Activity Monitor",
};

static const char *who_withholds(const struct oom_message *m)
{
	if (m->limit.is_there)
		return "its limit withholds";
	return m->others.is_there ? "other processes hold"
				  : "this PyTorch does not hold";
}

/* A new segment does not depend on free pieces. It takes at most 20 MiB more
 * than the request (kLargeBuffer). */
static void say_other_room(struct gp_words *words, const struct oom_message *m,
			   const struct oom_conclusion *c)
{
	if (c->withheld < m->asked.bytes + (UINT64_C(20) << 20))
		return;
	gp_say(words, " With the %s that %s it would have fitted, too",
	       GP_BYTES(c->withheld), who_withholds(m));
	if (m->limit.is_there)
		gp_say(words, ".");
	else
		gp_say(words, "; %s shows who holds them.", smi[m->api]);
}

static void say_moment(struct gp_words *words, const struct oom_message *m)
{
	char asked[GP_BYTES_TEXT];

	gp_say(words,
	       "Out of memory, but right afterwards the device had %s free, "
	       "and %s were asked for: another process released it in between, "
	       "or the device could not provide it.",
	       GP_BYTES(m->free.bytes), gp_bytes_text(m->asked.bytes, asked));
}

static void say_placement(struct gp_words *words, const struct oom_message *m,
			  const struct oom_conclusion *c)
{
	char asked[GP_BYTES_TEXT];

	gp_bytes_text(m->asked.bytes, asked);
	gp_say(words,
	       "Out of memory by fragmentation, as far as the message shows: "
	       "%s were asked for, and %s were free%s. %s of that lies between "
	       "tensors, in pieces that are too small, or for another stream.",
	       asked, GP_BYTES(c->idle),
	       m->limit.is_there ? " within its limit" : "",
	       GP_BYTES(gp_smaller(m->unallocated.bytes, c->idle)));
	say_other_room(words, m, c);
}

static void say_capacity(struct gp_words *words, const struct oom_message *m,
			 const struct oom_conclusion *c)
{
	static const char why[] = "no setting makes tensors smaller, but for "
				  "what settings round up";
	char missing[GP_BYTES_TEXT];

	gp_bytes_text(c->missing, missing);
	if (c->withheld)
		gp_say(words,
		       "Out of memory: about %s were missing. Even with the %s "
		       "that %s it would not fit, or hardly: %s.",
		       missing, GP_BYTES(c->withheld), who_withholds(m), why);
	else
		gp_say(words,
		       "Out of memory; the device is too small by about %s: "
		       "%s.",
		       missing, why);
}

/* With cudaMallocAsync: memory in use that is neither in tensors nor free. */
static void say_async(struct gp_words *words, const struct oom_message *m,
		      const struct oom_conclusion *c)
{
	gp_say(words,
	       "Out of memory with cudaMallocAsync: %s were asked for, and %s "
	       "were free. Another %s of the device are not in tensors of this "
	       "program: the driver keeps them for it, or libraries or other "
	       "processes hold them.",
	       GP_BYTES(m->asked.bytes), GP_BYTES(m->free.bytes),
	       GP_BYTES(c->unseen));
}

static void say_unseen(struct gp_words *words, const struct oom_message *m,
		       const struct oom_conclusion *c)
{
	if (m->form == OOM_ASYNC)
		say_async(words, m, c);
	else if (m->free.is_there)
		gp_say(words,
		       "Out of memory: %s of the device are in use, but not by "
		       "this PyTorch. Look with %s for other processes.",
		       GP_BYTES(c->unseen), smi[m->api]);
	else
		gp_say(words,
		       "Out of memory: %s of the device are not this "
		       "PyTorch's. Look with %s for other processes.",
		       GP_BYTES(c->unseen), smi[m->api]);
}

static void say_limit(struct gp_words *words, const struct oom_message *m)
{
	if (m->form == OOM_MPS)
		gp_say(words,
		       "Out of memory on the GPU of a Mac. Its allocator (MPS) "
		       "is another than those that gpupool knows; the message "
		       "has its numbers and its limit.");
	else
		gp_say(words,
		       "Out of memory: the process has used up the %s that it "
		       "may use (set_per_process_memory_fraction), while the "
		       "device had room.",
		       GP_BYTES(m->limit.bytes));
}

/* ---- what is known without sizes ---- */

static void say_unknown(struct gp_words *words, const struct oom_message *m)
{
	if (m->is_async)
		gp_say(words,
		       "Out of memory with cudaMallocAsync; the log does not "
		       "have the numbers of PyTorch's message.");
	else
		gp_say(words,
		       "Out of memory: %s were asked for. The log has no more "
		       "of PyTorch's message, so it cannot show the cause.",
		       GP_BYTES(m->asked.bytes));
	if (!m->is_named)
		gp_say(words, " PyTorch%s ends it where it would name GPU 0.",
		       m->is_async ? "" : " 2.3");
}

static void say_driver(struct gp_words *words, const struct oom_message *m)
{
	gp_say(words,
	       "Out of memory, but not by PyTorch's allocator: %s was asked "
	       "for memory beside it, for a context, a library or a kernel. "
	       "The message does not say who holds the device: other "
	       "processes, "
	       "which %s shows, or PyTorch, as what it has reserved is free to "
	       "tensors only. set_per_process_memory_fraction() limits that.",
	       m->api == OOM_OF_CUDA  ? "CUDA"
	       : m->api == OOM_OF_HIP ? "ROCm"
				      : "the driver",
	       smi[m->api]);
}

static void say_rejection(struct gp_words *words, const struct oom_message *m)
{
	gp_say(words,
	       "Out of memory: %s were asked for, and PyTorch rejected it "
	       "before it asked the device, as throw_on_cudamalloc_oom is on "
	       "and it would have gone beyond per_process_memory_fraction.",
	       GP_BYTES(m->asked.bytes));
}

static struct gp_words sentence_of(const struct oom_message *m,
				   const struct oom_conclusion *c)
{
	struct gp_words words = { "" };

	switch (c->cause) {
	case OOM_BY_MOMENT: say_moment(&words, m); break;
	case OOM_BY_PLACEMENT: say_placement(&words, m, c); break;
	case OOM_BY_POOLS:
		gp_say(&words,
		       "Out of memory: %s are free in private pools, such as "
		       "those of CUDA graphs, which nothing else may use.",
		       GP_BYTES(m->in_pools.bytes));
		break;
	case OOM_BY_LIMIT: say_limit(&words, m); break;
	case OOM_BY_OTHERS:
		gp_say(&words,
		       "Out of memory: other processes hold %s of the device. "
		       "%s shows which they are.",
		       GP_BYTES(m->others.bytes), smi[m->api]);
		break;
	case OOM_BY_UNSEEN: say_unseen(&words, m, c); break;
	case OOM_BY_FULLNESS:
		gp_say(&words,
		       "Out of memory; the device is full: with the %s asked "
		       "for, tensors would hold all but %s of what PyTorch "
		       "could have. A setting gains that much at most.",
		       GP_BYTES(m->asked.bytes), GP_BYTES(c->left));
		break;
	case OOM_BY_CAPACITY: say_capacity(&words, m, c); break;
	case OOM_BY_REJECTION: say_rejection(&words, m); break;
	case OOM_BY_SIZE:
		gp_say(&words,
		       "Out of memory: more than 1 EiB was asked for, which no "
		       "device has. The size of a tensor was probably computed "
		       "wrongly.");
		break;
	case OOM_BY_DRIVER: say_driver(&words, m); break;
	case OOM_BY_HOST:
		gp_say(&words, "Out of memory on the host, not on a GPU: no "
			       "setting of the GPU's allocator changes that.");
		break;
	case OOM_BY_UNKNOWN: say_unknown(&words, m); break;
	}
	return words;
}

/* ---- what may help ---- */

/* PyTorch does not release cached memory before it rejects a request. */
static void print_after_rejection(const struct gp_page *page,
				  const struct oom_message *m)
{
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "Before that it releases no cached memory, as it does "
		     "without throw_on_cudamalloc_oom. Worth a try: leave that "
		     "out of %s, raise the fraction, or call "
		     "torch.cuda.empty_cache().",
		     m->variable);
}

static bool is_worth_a_try(const struct oom_message *m,
			   const struct oom_conclusion *c)
{
	return c->cause == OOM_BY_PLACEMENT && !m->is_expandable && !c->spilled;
}

/* Where expandable_segments are available: with ROCm since pytorch#177974, and
 * for XPU since pytorch#166292. */
static const char *where_to_try(const struct oom_message *m)
{
	if (m->api == OOM_OF_HIP)
		return " where PyTorch has it on ROCm (2.12 and later with "
		       "ROCm 7; others warn that it is not supported)";
	if (m->api == OOM_OF_XPU)
		return ", with PyTorch 2.10 or later";
	return m->is_old ? ", with PyTorch 2.1 or later" : ", unless it was on";
}

static void print_no_cure(const struct gp_page *page,
			  const struct oom_message *m)
{
	static const char *const but[] = {
		[OOM_OF_CUDA] = ", except while it captures a CUDA graph",
		[OOM_OF_HIP] = ", except while it captures a graph",
		[OOM_OF_XPU] = "",
	};

	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "torch.%s.empty_cache() would not have helped: before "
		     "PyTorch raises this error, it releases every segment "
		     "that holds no tensor%s.",
		     m->api == OOM_OF_XPU ? "xpu" : "cuda", but[m->api]);
}

static void print_spilled(const struct gp_page *page,
			  const struct oom_message *m,
			  const struct oom_conclusion *c)
{
	gp_page_line(
		page, GP_TONE_PLAIN, 0,
		"PyTorch had reserved %s, %s more than the device has: on "
		"Windows, the driver goes on in the host's memory when the "
		"device's is full, which is slow.",
		GP_BYTES(m->reserved.bytes), GP_BYTES(c->spilled));
}

static void print_try(const struct gp_page *page, const struct oom_message *m,
		      const struct oom_conclusion *c)
{
	if (c->spilled)
		print_spilled(page, m, c);
	if (is_worth_a_try(m, c)) {
		gp_page_line(
			page, GP_TONE_PLAIN, 0,
			"Worth a try%s; the message cannot tell whether it "
			"is enough:",
			where_to_try(m));
		gp_page_blank(page);
		fprintf(page->out, "    %s=expandable_segments:True\n",
			m->variable);
		gp_page_blank(page);
	} else if (c->cause == OOM_BY_PLACEMENT) {
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "%s. The message cannot tell which other setting "
			     "helps.",
			     m->is_expandable
				     ? "expandable_segments was on"
				     : "PyTorch on Windows has "
				       "expandable_segments only in late "
				       "releases");
	}
	if (c->cause == OOM_BY_PLACEMENT || c->cause == OOM_BY_FULLNESS)
		print_no_cure(page, m);
	if (c->cause == OOM_BY_REJECTION)
		print_after_rejection(page, m);
}

/* ---- the numbers ---- */

/* Which of several messages is shown: the last, of any GPU. */
#define OF_SEVERAL 80
static const char *of_several(const struct oom_message *m,
			      char text[OF_SEVERAL])
{
	int gpus = __builtin_popcountll(m->devices);
	char of[32] = "";

	if (gpus > 1)
		snprintf(of, sizeof(of), ", of %d GPUs", gpus);
	*text = 0;
	if (m->count > 1)
		snprintf(text, OF_SEVERAL, ", the last of %s such messages%s",
			 GP_COUNT(m->count), of);
	return text;
}

static void print_where(const struct gp_page *page, const struct oom_message *m)
{
	char line[GP_COUNT_TEXT], several[OF_SEVERAL];
	char rank[32] = "", gpu[32] = "";

	if (m->has_rank)
		snprintf(rank, sizeof(rank), ", by rank %u", m->rank);
	if (m->has_device)
		snprintf(gpu, sizeof(gpu), ", of GPU %u", m->device);
	gp_count_text(m->line, line);
	of_several(m, several);
	if (m->asked.is_there)
		gp_page_field(page, "Asked", "%s%s%s; line %s%s",
			      GP_BYTES(m->asked.bytes), gpu, rank, line,
			      several);
	else
		gp_page_field(page, "Where", "line %s%s%s%s", line, gpu, rank,
			      several);
}

static void print_available(const struct gp_page *page,
			    const struct oom_message *m,
			    const struct oom_conclusion *c)
{
	char a[GP_BYTES_TEXT], b[GP_BYTES_TEXT], d[GP_BYTES_TEXT];
	const char *limit = m->limit.is_there ? ", within its limit" : "";

	gp_bytes_text(c->available, a);
	gp_bytes_text(m->reserved.bytes - c->spilled, b);
	gp_bytes_text(m->free.bytes, d);
	if (m->form == OOM_ASYNC)
		gp_page_field(page, "Available", "%s: %s in tensors, %s free%s",
			      a, b, d, limit);
	else if (m->free.is_there)
		gp_page_field(page, "Available",
			      "%s: %s reserved by PyTorch, %s free%s", a, b, d,
			      limit);
	else
		gp_page_field(page, "Available",
			      "%s reserved by PyTorch%s; the message does not "
			      "say how much was free",
			      b, limit);
}

/* A noun for memory of the device that PyTorch did not report. */
static const char *whose(const struct oom_message *m)
{
	return m->is_async	  ? "neither free nor in its tensors"
	       : m->free.is_there ? "not this PyTorch's"
				  : "free or not this PyTorch's";
}

/* Whether the message has the sizes that the conclusion is drawn from. */
static bool has_sizes(const struct oom_message *m)
{
	return m->form == OOM_TOLD || m->form == OOM_ASYNC;
}

static void print_cut_device(const struct gp_page *page,
			     const struct oom_message *m)
{
	char total[GP_BYTES_TEXT];

	gp_bytes_text(m->total.bytes, total);
	if (m->free.is_there)
		gp_page_field(page, "Device", "%s, of which %s were free",
			      total, GP_BYTES(m->free.bytes));
	else
		gp_page_field(page, "Device", "%s", total);
}

static void print_numbers(const struct gp_page *page,
			  const struct oom_message *m,
			  const struct oom_conclusion *c)
{
	char a[GP_BYTES_TEXT];

	print_where(page, m);
	if (!has_sizes(m)) {
		if (m->total.is_there)
			print_cut_device(page, m);
		return;
	}
	gp_page_field(page, "Needed",
		      "%s: %s in tensors, and what was asked for",
		      gp_bytes_text(c->needed, a), GP_BYTES(c->allocated));
	print_available(page, m, c);
	gp_bytes_text(m->total.bytes, a);
	if (c->unseen)
		gp_page_field(page, "Device", "%s, of which %s are %s%s", a,
			      GP_BYTES(c->unseen), whose(m), c->own ? ":" : "");
	else
		gp_page_field(page, "Device",
			      "%s, next to all of it this PyTorch's or free",
			      a);
	if (c->own)
		gp_page_field(
			page, "",
			"%s of this process (CUDA context, libraries), %s of "
			"others",
			gp_bytes_text(c->own, a),
			GP_BYTES(c->unseen - gp_smaller(c->unseen, c->own)));
}

/* A recording of XPU cannot be replayed: its allocator is a different one. */
static void print_how_xpu(const struct gp_page *page)
{
	gp_page_line(
		page, GP_TONE_PLAIN, 0,
		"A snapshot shows who holds the memory. With PyTorch 2.11 or "
		"later call torch.xpu.memory._record_memory_history() at the "
		"start, and torch.xpu.memory._dump_snapshot(\"oom.pickle\") "
		"when it fails:");
	gp_page_blank(page);
	fprintf(page->out, "  gpupool view holders oom.pickle\n");
}

static void print_how(const struct gp_page *page, const struct oom_message *m)
{
	const struct gp_gpu *gpu = gp_gpu_of_capacity(m->total.bytes);
	bool is_cuda = m->api == OOM_OF_CUDA;

	if (m->is_async)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "Nothing can be recorded of cudaMallocAsync: set "
			     "%s=backend:native first.",
			     m->variable);
	gp_page_line(
		page, GP_TONE_PLAIN, 0,
		"A trace shows what helps. Call "
		"torch.cuda.memory._record_memory_history() at the start, "
		"and torch.cuda.memory._dump_snapshot(\"oom.pickle\") when "
		"it fails%s:",
		is_cuda ? "; or record the program here, without a GPU" : "");
	gp_page_blank(page);
	fprintf(page->out, "  gpupool oom.pickle\n");
	if (is_cuda)
		fprintf(page->out, "  gpupool fit%s%s -- python train.py\n",
			gpu ? " --gpu " : "", gpu ? gpu->name : "");
}

/* ---- of several logs ---- */

static const char *const causes[] = {
	[OOM_BY_MOMENT] = "was-free",	  [OOM_BY_PLACEMENT] = "fragmentation",
	[OOM_BY_POOLS] = "private-pools", [OOM_BY_LIMIT] = "limit",
	[OOM_BY_OTHERS] = "others",	  [OOM_BY_UNSEEN] = "unseen",
	[OOM_BY_FULLNESS] = "full",	  [OOM_BY_CAPACITY] = "capacity",
	[OOM_BY_REJECTION] = "rejected",  [OOM_BY_SIZE] = "absurd-size",
	[OOM_BY_DRIVER] = "driver",	  [OOM_BY_HOST] = "host",
	[OOM_BY_UNKNOWN] = "unknown",
};

#define LOGS_SHOWN 8

/* The path below the folder that all logs share: torchrun's logs are
 * 0/stderr.log, 1/stderr.log. */
static const char *name_of(const struct gp_log_report *r, size_t index)
{
	return r->logs[index].path + r->folder;
}

static void print_other(const struct gp_page *page, const char *label,
			const struct gp_log_report *r, size_t index)
{
	const struct oom_logged *log = &r->logs[index];
	const struct oom_message *m = &log->message;
	char gpu[32] = "";

	if (m->has_device)
		snprintf(gpu, sizeof(gpu), " of GPU %u", m->device);
	gp_page_field(page, label, "%s: %s%s; cause: %s%s%s", name_of(r, index),
		      m->asked.is_there ? GP_BYTES(m->asked.bytes) : "no size",
		      gpu, causes[log->conclusion.cause], *m->time ? "; " : "",
		      m->time);
}

/* Says which file the message is from, and whether it was the first. */
static void print_logs(const struct gp_page *page,
		       const struct gp_log_report *r)
{
	const struct oom_logged *first = &r->logs[r->first];
	size_t shown = 0;

	if (!r->has_several)
		return;
	gp_page_field(page, "Logs",
		      "%zu of %zu %s such a message; shown is that of "
		      "%s%s%s",
		      r->count, r->files, r->count == 1 ? "has" : "have",
		      name_of(r, r->first),
		      r->count == 1   ? ""
		      : r->is_by_time ? ", the first to fail, at "
				      : "; no times tell which was first",
		      r->count > 1 && r->is_by_time ? first->message.time : "");
	for (size_t i = 0; i < r->count && shown < LOGS_SHOWN; i++)
		if (i != r->first)
			print_other(page, shown++ ? "" : "Others", r, i);
	if (r->count - 1 > shown)
		gp_page_field(page, "", "and %zu more", r->count - 1 - shown);
}

void gp_report_log_text(const struct gp_log_report *report,
			const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	const struct oom_message *m = &report->logs[report->first].message;
	const struct oom_conclusion *c =
		&report->logs[report->first].conclusion;

	gp_page_line(&page, GP_TONE_BAD, 0, "%s", sentence_of(m, c).text);
	print_try(&page, m, c);
	gp_page_blank(&page);
	print_logs(&page, report);
	print_numbers(&page, m, c);
	if (m->form >= OOM_MPS && m->form != OOM_DRIVER)
		return; /* gpupool can read no recording of such a program */
	gp_page_blank(&page);
	if (m->api == OOM_OF_XPU)
		print_how_xpu(&page);
	else
		print_how(&page, m);
}

/* ---- for a program ---- */

static const char *const apis[] = {
	[OOM_OF_CUDA] = "cuda",
	[OOM_OF_HIP] = "hip",
	[OOM_OF_XPU] = "xpu",
	[OOM_OF_MPS] = "mps",
};

static void write_known(struct gp_emit *json, const char *key, bool is_known,
			uint64_t value)
{
	if (is_known)
		gp_emit_uint(json, key, value);
	else
		gp_emit_null(json, key);
}

static void write_printed(struct gp_emit *json, const char *key,
			  struct printed_bytes bytes)
{
	write_known(json, key, bytes.is_there, bytes.bytes);
}

static void write_keys(struct gp_emit *json, const struct oom_message *m,
		       const struct oom_conclusion *c)
{
	gp_emit_uint(json, "line", m->line);
	gp_emit_uint(json, "messages", m->count);
	gp_emit_uint(json, "gpus", (uint64_t)__builtin_popcountll(m->devices));
	write_known(json, "device", m->has_device, m->device);
	write_known(json, "rank", m->has_rank, m->rank);
	gp_emit_text(json, "api", apis[m->api]);
	gp_emit_text(json, "cause", causes[c->cause]);
	if (is_worth_a_try(m, c))
		gp_emit_text(json, "worth_a_try", "expandable_segments:True");
	else
		gp_emit_null(json, "worth_a_try");
	gp_emit_text(json, "variable", m->variable);
	write_printed(json, "asked_bytes", m->asked);
	write_known(json, "allocated_bytes", has_sizes(m), c->allocated);
	write_known(json, "reserved_bytes", m->form == OOM_TOLD,
		    m->reserved.bytes);
	write_printed(json, "free_bytes", m->free);
	write_printed(json, "total_bytes", m->total);
	write_printed(json, "limit_bytes", m->limit);
	write_printed(json, "others_bytes", m->others);
	write_known(json, "missing_bytes", has_sizes(m), c->missing);
	write_known(json, "spilled_bytes", has_sizes(m), c->spilled);
}

static void write_several(struct gp_emit *json, const struct gp_log_report *r)
{
	gp_emit_uint(json, "files", r->files);
	if (r->is_by_time || r->count == 1)
		gp_emit_text(json, "first", r->logs[r->first].path);
	else
		gp_emit_null(json, "first");
	gp_emit_open(json, "logs", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < r->count; i++) {
		gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
		gp_emit_text(json, "path", r->logs[i].path);
		if (*r->logs[i].message.time)
			gp_emit_text(json, "time", r->logs[i].message.time);
		else
			gp_emit_null(json, "time");
		write_keys(json, &r->logs[i].message, &r->logs[i].conclusion);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

void gp_report_log_json(const struct gp_log_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path, NULL);
	if (report->has_several)
		write_several(&json, report);
	else
		write_keys(&json, &report->logs->message,
			   &report->logs->conclusion);
	gp_emit_close(&json, '}');
}
