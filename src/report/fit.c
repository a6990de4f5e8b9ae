/* SPDX-License-Identifier: MIT */
/*
 * Whether a recorded program fits a device: what PyTorch needs and what else
 * the process holds, in total, without changes and with the best setting.
 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/holders.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/verdict.h"

#define MOST_HOLDERS	  5
#define MOST_HOLDERS_JSON 20
#define RANGE_TEXT	  (2 * GP_BYTES_TEXT + 20)

/* How much memory a device must have. */
struct need {
	uint64_t pytorch; /* 0: not known; GP_UNLIMITED: none is enough */
	uint64_t all;
	const struct gp_gpu *smallest; /* NULL: none of the table */
};

static const struct gp_verdict *verdict_of(const struct gp_fit_report *r)
{
	return &r->study->verdicts[r->worst];
}

static bool is_known(uint64_t bytes)
{
	return bytes && bytes != GP_UNLIMITED;
}

/* Memory of a device that is left for PyTorch's allocator. */
static uint64_t room_of(const struct gp_gpu *gpu)
{
	return gpu->capacity - gp_gpu_non_pytorch(gpu).high;
}

static const struct gp_gpu *smallest_for(uint64_t pytorch)
{
	const struct gp_gpu *smallest = NULL;
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++)
		if (room_of(&gpus[i]) >= pytorch &&
		    (!smallest || gpus[i].capacity < smallest->capacity))
			smallest = &gpus[i];
	return smallest;
}

static struct need need_of(const struct gp_fit_report *r, uint64_t pytorch)
{
	struct need need = { .pytorch = pytorch };

	if (!is_known(pytorch))
		return need;
	need.all = pytorch + r->besides.high;
	need.smallest = smallest_for(pytorch);
	return need;
}

static struct need as_it_is(const struct gp_fit_report *r)
{
	return need_of(r, verdict_of(r)->need_as_recorded);
}

/* The need with the advised setting; zero if none is advised. */
static struct need with_setting(const struct gp_fit_report *r)
{
	const struct gp_verdict *v = verdict_of(r);

	return need_of(r, v->conf ? v->need : 0);
}

uint64_t gp_fit_needs(const struct gp_fit_report *r)
{
	return r->study->case_count ? as_it_is(r).all : 0;
}

/* Why it is unknown whether the program fits, although it was recorded. */
enum doubt {
	NO_DOUBT,
	BY_EXIT,    /* it failed; what it did until then fits */
	BY_SHARERS, /* each process was judged by itself, and fits */
	BY_OOM,	    /* it does not fit, but went on after memory ran out */
	BY_REFUSAL, /* it fits, but what it does with more memory is unknown */
	BY_RANGE,   /* it fits only if it holds little besides PyTorch */
	BY_TRACE,   /* nothing in the trace decides it */
};

/* The total, with the least that the process may hold besides PyTorch. */
static uint64_t least_of(const struct gp_fit_report *r, struct need need)
{
	return need.all ? need.pytorch + r->besides.low : 0;
}

/* Whether it runs although not everything that it requests fits. */
static bool does_with_less(const struct gp_fit_report *r)
{
	return r->again.is_there && !r->again.exit;
}

static enum doubt doubt_of(const struct gp_fit_report *r)
{
	struct need need = as_it_is(r);

	if (does_with_less(r))
		return NO_DOUBT;
	if (gp_verdict_is_unknown(verdict_of(r)))
		return BY_TRACE;
	if (!verdict_is_bad(verdict_of(r)))
		return r->exit	      ? BY_EXIT
		       : r->sharers   ? BY_SHARERS
		       : r->oom_trace ? BY_REFUSAL
				      : NO_DOUBT;
	if (r->went_on && !r->again.is_there)
		return BY_OOM;
	return need.all && least_of(r, need) <= r->gpu->capacity ? BY_RANGE
								 : NO_DOUBT;
}

bool gp_fit_is(const struct gp_fit_report *r)
{
	/* No device was used: the program fits if it ended well, else its need
	 * is unknown. */
	if (!r->study->case_count)
		return !r->exit && !r->runs_on;
	return doubt_of(r) == NO_DOUBT &&
	       (does_with_less(r) || !verdict_is_bad(verdict_of(r)));
}

bool gp_fit_is_open(const struct gp_fit_report *r)
{
	if (!r->study->case_count)
		return r->exit || r->runs_on;
	return doubt_of(r) != NO_DOUBT;
}

/* What nvidia-smi would show at the peak; 0: the program fails before. */
static uint64_t shown(const struct gp_fit_report *r)
{
	const struct gp_trial *trial = &r->study->trials[0];

	if (does_with_less(r))
		return r->again.reserved + r->besides.shown;
	return !verdict_is_bad(verdict_of(r))
		       ? trial->cases[r->worst].reserved + r->besides.shown
		       : 0;
}

/* ---- for a person ---- */

/* How accurate the sizes are, according to the recorder's note on what it could
 * not know (recorder.c, say_sizes). */
static const char *how_exactly(const struct gp_fit_report *r)
{
	const struct gp_trace *trace = r->trace;

	if (verdict_of(r)->is_at_most)
		return "at most ";
	if (!trace->not_told)
		return "";
	return strstr(trace->not_told, "counted as 0") ? "at least " : "about ";
}

static void print_fits(const struct gp_page *page,
		       const struct gp_fit_report *r, struct need need)
{
	if (need.all)
		gp_page_line(page, GP_TONE_GOOD, 0,
			     "%s fits: it needs %s%s of the %s that %s has.",
			     r->program, how_exactly(r), GP_BYTES(need.all),
			     GP_BYTES(r->gpu->capacity), r->gpu->name);
	else
		gp_page_line(page, GP_TONE_GOOD, 0, "%s fits %s.", r->program,
			     r->gpu->name);
}

static void print_range(const struct gp_page *page,
			const struct gp_fit_report *r, struct need need)
{
	gp_page_line(page, GP_TONE_BAD, 0,
		     "%s may fit %s, or not: it needs %s%s to %s of its %s, by "
		     "what the process holds there besides PyTorch.",
		     r->program, r->gpu->name, how_exactly(r),
		     GP_BYTES(least_of(r, need)), GP_BYTES(need.all),
		     GP_BYTES(r->gpu->capacity));
	gp_page_line(page, GP_TONE_BAD, 0, "With the most of that: %s",
		     verdict_sentence(verdict_of(r)).text);
}

static void print_doubt(const struct gp_page *page,
			const struct gp_fit_report *r, enum doubt doubt)
{
	char why[GP_EVENT_TEXT + 200] = "", event[GP_EVENT_TEXT];

	if (doubt == BY_EXIT)
		snprintf(why, sizeof(why),
			 "it ended with status %d. What it did until then "
			 "fits, what it would have done after that is not "
			 "counted",
			 r->exit);
	else if (doubt == BY_SHARERS)
		snprintf(why, sizeof(why),
			 "%" PRIu32 " of its processes use cuda:%" PRIu32
			 ", and each was judged as if it were alone there",
			 r->sharers, r->shared);
	else
		snprintf(why, sizeof(why),
			 "it ran out of memory when it was recorded, at %s%s",
			 gp_event_words(r->oom_trace, r->oom_device, r->oom,
					event),
			 doubt == BY_REFUSAL
				 ? ". What is in the trace fits; what it does "
				   "with more memory is not in it"
				 : ", and went on. All that it requested does "
				   "not fit; what it does with less memory was "
				   "not recorded");
	gp_page_line(page, GP_TONE_BAD, 0,
		     "Whether %s fits %s is not known: "
		     "%s.",
		     r->program, r->gpu->name, why);
}

static void print_less(const struct gp_page *page,
		       const struct gp_fit_report *r)
{
	const struct gp_fit_again *again = &r->again;
	char event[GP_EVENT_TEXT];

	if (!again->ooms) {
		gp_page_line(page, GP_TONE_GOOD, 0,
			     "%s runs on %s: it asks for less there, and ended "
			     "well. Where memory never runs out it asks for "
			     "more than that has.",
			     r->program, r->gpu->name);
		return;
	}
	gp_page_line(page, GP_TONE_GOOD, 0,
		     "%s runs on %s, but not all that it asks for fits: with "
		     "that memory %s failed, %s%s, and it went on and ended "
		     "well.",
		     r->program, r->gpu->name,
		     GP_PLURAL(again->ooms, "request"),
		     again->ooms > 1 ? "the first at " : "at ",
		     gp_event_words(again->trace, again->device, again->event,
				    event));
}

static void print_setting(const struct gp_page *page,
			  const struct gp_fit_report *r)
{
	const char *conf = verdict_of(r)->conf;

	if (!conf)
		return;
	if (does_with_less(r))
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "All that it asks for fits with:");
	gp_page_blank(page);
	fprintf(page->out, "    %s\n", verdict_line(conf).text);
}

static void print_answer(const struct gp_page *page,
			 const struct gp_fit_report *r)
{
	const struct gp_verdict *v = verdict_of(r);
	enum doubt doubt = doubt_of(r);

	if (does_with_less(r))
		print_less(page, r);
	else if (doubt == BY_RANGE)
		print_range(page, r, as_it_is(r));
	else if (doubt == BY_TRACE)
		gp_page_line(page, GP_TONE_BAD, 0,
			     "Whether %s fits %s is not known. %s", r->program,
			     r->gpu->name, verdict_sentence(v).text);
	else if (doubt)
		print_doubt(page, r, doubt);
	else if (gp_fit_is(r))
		print_fits(page, r, as_it_is(r));
	else
		gp_page_line(page, GP_TONE_BAD, 0, "%s does not fit %s. %s",
			     r->program, r->gpu->name,
			     verdict_sentence(v).text);
	if (r->exit && doubt != BY_EXIT)
		gp_page_line(page, GP_TONE_BAD, 0,
			     "The program ended with status %d: what it would "
			     "have done after that is not counted.",
			     r->exit);
	print_setting(page, r);
}

static void print_caveats(const struct gp_page *page,
			  const struct gp_fit_report *r)
{
	const struct gp_words caveats = verdict_caveats(verdict_of(r));

	if (!*caveats.text)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0, "%s", caveats.text);
}

/* " (between 1.00 GiB and 1.50 GiB)", where it is an estimate. */
static const char *range_of(const struct gp_verdict *v, char text[RANGE_TEXT])
{
	*text = '\0';
	if (v->high && v->high != v->low)
		snprintf(text, RANGE_TEXT, " (between %s and %s)",
			 GP_BYTES(v->low), GP_BYTES(v->high));
	return text;
}

static void print_need(const struct gp_page *page, const char *label,
		       const struct gp_fit_report *r, struct need need,
		       bool is_verdict)
{
	char all[GP_BYTES_TEXT], range[RANGE_TEXT], note[240];

	if (need.pytorch == GP_UNLIMITED)
		gp_page_row(page, &(struct gp_page_row){ label, "none",
							 "is large enough",
							 GP_TONE_BAD });
	if (!need.all)
		return;
	snprintf(note, sizeof(note), "%s for PyTorch%s, %s besides; %s%s",
		 GP_BYTES(need.pytorch),
		 is_verdict ? range_of(verdict_of(r), range) : "",
		 GP_BYTES(r->besides.high),
		 need.smallest ? "smallest device: "
			       : "no device is large enough",
		 need.smallest ? need.smallest->name : "");
	gp_page_row(page,
		    &(struct gp_page_row){
			    label, gp_bytes_text(need.all, all), note,
			    need.all > r->gpu->capacity ? GP_TONE_BAD
							: GP_TONE_PLAIN });
}

static void print_shown(const struct gp_page *page,
			const struct gp_fit_report *r)
{
	char text[GP_BYTES_TEXT];

	if (shown(r))
		gp_page_row(page, &(struct gp_page_row){
					  "nvidia-smi shows",
					  gp_bytes_text(shown(r), text),
					  "at the peak, with what is cached",
					  GP_TONE_PLAIN });
}

/* A program that takes all available memory does not need such a device. */
static void print_needs(const struct gp_page *page,
			const struct gp_fit_report *r)
{
	struct need now = as_it_is(r), then = with_setting(r);

	if (!now.pytorch && !then.pytorch && !shown(r))
		return;
	if (r->went_on && !r->again.is_there && !now.all)
		return;
	print_need(page,
		   does_with_less(r) ? "All it asks for"
		   : r->oom_trace    ? "Needs at least"
				     : "Needs",
		   r, now, !verdict_of(r)->conf);
	print_need(page, "With that setting", r, then, true);
	print_shown(page, r);
	gp_page_blank(page);
}

static void print_besides(const struct gp_page *page,
			  const struct gp_fit_report *r)
{
	bool is_range = r->besides.low < r->besides.high;

	gp_page_field(page, "Besides",
		      "CUDA's context, loaded code and libraries' own memory: "
		      "%s%s%s %s (%s); NCCL's is not counted",
		      is_range ? GP_BYTES(r->besides.low) : "",
		      is_range ? " to " : "", GP_BYTES(r->besides.high),
		      r->besides.source ? "as users saw it"
					: "on other devices",
		      r->besides.source ? r->besides.source
					: "none was published for this one");
}

void gp_report_fit_text(const struct gp_fit_report *r,
			const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	if (!r->study->case_count && r->exit) {
		gp_page_line(&page, GP_TONE_BAD, 0,
			     "Whether %s fits is not known: it ended with "
			     "status %d before it used a CUDA device.",
			     r->program, r->exit);
		return;
	}
	if (!r->study->case_count && r->runs_on) {
		gp_page_line(&page, GP_TONE_BAD, 0,
			     "Whether %s fits is not known: a process that it "
			     "left running had used no CUDA device yet.",
			     r->program);
		return;
	}
	if (!r->study->case_count) {
		gp_page_line(&page, GP_TONE_GOOD, 0,
			     "%s fits: it used no CUDA device.", r->program);
		return;
	}
	print_answer(&page, r);
	print_caveats(&page, r);
	gp_page_blank(&page);
	print_needs(&page, r);
	gp_report_holders_brief(&page, r->explain, MOST_HOLDERS);
	gp_report_owners(&page, r->explain, MOST_HOLDERS);
	if (r->explain->live_bytes)
		gp_page_blank(&page);
	ranks_head(&page, r->ranks, RANKS_BRIEFLY);
	if (!r->ranks && r->trace->device_count > 1)
		gp_page_field(&page, "Device", "%u, the worst of %zu",
			      r->trace->devices[r->device].device,
			      r->trace->device_count);
	if (r->path)
		gp_page_field(&page, "Path", "%s", r->path);
	if (gp_trace_unknown(r->trace))
		gp_page_field(&page, "Unknown", "%s",
			      gp_trace_unknown(r->trace));
	print_besides(&page, r);
	if (r->kept)
		gp_page_field(&page, "Trace", "%s", r->kept);
	else
		gp_page_field(&page, "Trace",
			      "not kept; --keep trace.json keeps it for "
			      "explain, suggest and replay");
}

/* ---- for a program ---- */

static void write_need(struct gp_emit *json, const char *key,
		       const struct gp_fit_report *r, struct need need)
{
	if (!need.all) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "bytes", need.all);
	gp_emit_uint(json, "low_bytes", least_of(r, need));
	gp_emit_uint(json, "pytorch_bytes", need.pytorch);
	gp_emit_text(json, "smallest",
		     need.smallest ? need.smallest->name : NULL);
	gp_emit_close(json, '}');
}

static void write_gpu(struct gp_emit *json, const struct gp_fit_report *r)
{
	gp_emit_open(json, "gpu", '{', GP_EMIT_FLAT);
	gp_emit_text(json, "name", r->gpu->name);
	gp_emit_uint(json, "bytes", r->gpu->capacity);
	gp_emit_uint(json, "non_pytorch_low_bytes", r->besides.low);
	gp_emit_uint(json, "non_pytorch_high_bytes", r->besides.high);
	gp_emit_text(json, "source", r->besides.source);
	gp_emit_close(json, '}');
}

static void write_again(struct gp_emit *json, const struct gp_fit_report *r)
{
	const struct gp_fit_again *again = &r->again;

	if (!again->is_there)
		return;
	gp_emit_open(json, "again", '{', GP_EMIT_FLAT);
	gp_emit_int(json, "exit", again->exit);
	gp_emit_uint(json, "ooms", again->ooms);
	gp_emit_uint(json, "reserved_bytes", again->reserved);
	gp_emit_close(json, '}');
}

void gp_report_fit_json(const struct gp_fit_report *r, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);
	bool is_used = r->study->case_count > 0;

	gp_emit_text(&json, "program", r->program);
	gp_emit_int(&json, "exit", r->exit);
	gp_emit_bool(&json, "fits", gp_fit_is(r));
	gp_emit_bool(&json, "known", !gp_fit_is_open(r));
	gp_emit_uint(&json, "sharers", r->sharers);
	write_again(&json, r);
	write_gpu(&json, r);
	gp_emit_ranks(&json, r->ranks);
	if (is_used) {
		write_need(&json, "needs", r, as_it_is(r));
		write_need(&json, "needs_with_setting", r, with_setting(r));
		if (shown(r))
			gp_emit_uint(&json, "nvidia_smi_bytes", shown(r));
		else
			gp_emit_null(&json, "nvidia_smi_bytes");
		gp_emit_text(&json, "path", r->path);
		if (gp_trace_unknown(r->trace))
			gp_emit_text(&json, "not_told",
				     gp_trace_unknown(r->trace));
	}
	if (r->ranks)
		gp_emit_rank_verdicts(&json, r->ranks, r->study);
	else if (is_used)
		gp_emit_verdicts(&json, r->trace, r->study);
	if (is_used) {
		gp_emit_in_use(&json, r->explain, MOST_HOLDERS_JSON);
		gp_emit_owners(&json, r->explain);
	}
	gp_emit_close(&json, '}');
}
