/* SPDX-License-Identifier: MIT */
/* A verdict, for a person and for a program. */
#include "report/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "report/emit.h"
#include "report/object.h"

#define EXPANDABLE_ON_ROCM 12 /* pytorch#177974 */
#define OTHER_NAME	   10 /* the first release with two names for it */

bool verdict_is_bad(const struct gp_verdict *v)
{
	return v->kind != GP_VERDICT_FITS;
}

const char *verdict_part(const struct gp_verdict *v)
{
	return v->recorded ? " of what the trace holds"
	       : v->begins == GP_BEGINS_WINDOW
		       ? " from what the window begins with"
		       : "";
}

/* ---- the sentence ---- */

/* What happens with the current setting, if another one does better. */
static void say_as_it_is(struct gp_words *words, const struct gp_verdict *v)
{
	if (v->is_unexplained)
		gp_say(words, "It fits in a replay");
	else if (v->capacity != GP_UNLIMITED)
		gp_say(words, "It fits");
	else if (v->ends == GP_ENDS_FAILURE)
		gp_say(words,
		       "It ran out of memory on a device of unknown size");
	else if (v->need_as_recorded == GP_UNLIMITED)
		gp_say(words, "As it is, no device was found that it fits");
	else
		gp_say(words, "As it is, it needs %s%s",
		       v->is_at_most ? "at most " : "",
		       GP_BYTES(v->need_as_recorded));
}

static void say_keep(struct gp_words *words, const struct gp_verdict *v)
{
	if (v->capacity != GP_UNLIMITED)
		gp_say(words, "%s, with %s%s to spare.",
		       v->is_unexplained ? "It fits in a replay"
		       : v->high > v->capacity
			       ? "Keep the settings: it is estimated to fit"
			       : "Keep the settings: it fits",
		       v->is_at_most ? "at least " : "", GP_BYTES(v->spare));
	else if (v->need == GP_UNLIMITED)
		gp_say(words, "No device was found that it fits, with any "
			      "setting tried.");
	else if (v->recorded)
		gp_say(words,
		       "Keep the settings: it ran with %s reserved, and what "
		       "others need is not in the trace.",
		       GP_BYTES(v->recorded));
	else
		gp_say(words,
		       "%s: it needs %s%s, and no setting tried %s less.",
		       v->ends == GP_ENDS_FAILURE ? "It ran out of memory on a "
						    "device of unknown size"
						  : "Keep the settings",
		       v->is_at_most ? "at most " : "", GP_BYTES(v->need),
		       v->begins == GP_BEGINS_WINDOW ? "is sure to need"
						     : "needs clearly");
}

static void say_fits(struct gp_words *words, const struct gp_verdict *v)
{
	char need[GP_BYTES_TEXT];

	if (!v->conf) {
		say_keep(words, v);
		return;
	}
	say_as_it_is(words, v);
	gp_bytes_text(v->need, need);
	if (v->need_as_recorded == GP_UNLIMITED || v->is_at_most)
		gp_say(words, "; another setting needs %s.", need);
	else if (gp_study_is_less(v->need, v->need_as_recorded))
		gp_say(words, "; another setting needs %s less: %s.",
		       GP_BYTES(v->need_as_recorded - v->need), need);
	else if (v->capacity != GP_UNLIMITED)
		gp_say(words,
		       " as it is, and with the setting that others need: %s.",
		       need);
	else
		gp_say(words, "; with the setting that others need, %s.", need);
}

/* Why the current setting does not serve the trace, if another one does. */
static const char *why_not(const struct gp_verdict *v)
{
	switch (v->cause) {
	case GP_BY_LIMIT:
		return "Out of memory at the memory fraction that is set";
	case GP_BY_SETTINGS:
		return "Refused by the settings, not by the device";
	case GP_BY_CHOICE: return "It fits, with a setting that cannot be used";
	case GP_BY_OTHERS:
		return "What is reserved leaves too little of the device to "
		       "others";
	default: return "Out of memory by fragmentation";
	}
}

static void say_setting(struct gp_words *words, const struct gp_verdict *v)
{
	bool is_failure = v->ends == GP_ENDS_FAILURE;

	gp_say(words, "%s; another setting serves %s", why_not(v),
	       is_failure ? "the request that failed" : "every request");
	if (v->spare)
		gp_say(words, ", with %s to spare", GP_BYTES(v->spare));
	gp_say(words,
	       is_failure ? "; what came next is not in the trace." : ".");
}

/* If a limit is not in the trace, the verdict is for its lowest possible value:
 * with a higher limit, a setting may serve. */
static const char *with_least(const struct gp_verdict *v)
{
	return v->capacity_below ? "with the least that it may use, " : "";
}

static void say_too_small(struct gp_words *words, const struct gp_verdict *v)
{
	gp_say(words, "Out of memory; %sno setting helps: %s too small by %s.",
	       with_least(v),
	       v->capacity_below ? "that is"
	       : v->was_limited	 ? "the memory that it may use is"
				 : "the device is",
	       GP_BYTES(v->live + v->others - v->capacity));
}

static void say_no_setting(struct gp_words *words, const struct gp_verdict *v)
{
	gp_say(words, "Out of memory%s; %sno setting %shelps: ",
	       v->cause == GP_BY_LIMIT ? " at the memory fraction that is set"
				       : "",
	       with_least(v), v->is_constrained ? "that may be used " : "");
	if (v->missing == GP_UNLIMITED)
		gp_say(words, "a request fails however much memory there is.");
	else if (v->cause == GP_BY_LIMIT)
		gp_say(words,
		       "with the best of them, a device of %s is needed at "
		       "that fraction.",
		       GP_BYTES(v->need));
	else
		gp_say(words, "with the best of them, %s are missing.",
		       GP_BYTES(v->missing));
}

/* A window that runs out of memory and that no other setting certainly
 * serves. */
static void say_failing_window(struct gp_words *words,
			       const struct gp_verdict *v)
{
	gp_say(words,
	       "%s as it is; what other settings would do is undecided, as "
	       "what "
	       "they would have cached before the trace began is not in it.",
	       v->cause == GP_BY_CHOICE	  ? "It fits"
	       : v->cause == GP_BY_OTHERS ? "Too little is left to others"
					  : "Out of memory");
	if (v->likely)
		gp_say(words, " %s: %s, estimated to need %s.",
		       v->need <= v->capacity ? "Worth a try" : "The nearest",
		       verdict_line(v->likely).text, GP_BYTES(v->need));
	else if (v->need_as_recorded && v->need_as_recorded != GP_UNLIMITED)
		gp_say(words, " As it is, it needs %s.",
		       GP_BYTES(v->need_as_recorded));
}

static void say_undecided(struct gp_words *words, const struct gp_verdict *v)
{
	if (v->is_failure) {
		say_failing_window(words, v);
		return;
	}
	gp_say(words, "Undecided: ");
	if (v->recorded > v->capacity)
		gp_say(words,
		       "%s were reserved when it was recorded, more than the "
		       "%s "
		       "asked about, and not all that led to it is in the "
		       "trace; "
		       "record from the start of the program to decide it.",
		       GP_BYTES(v->recorded), GP_BYTES(v->capacity));
	else if (v->start > v->capacity)
		gp_say(words,
		       "the trace begins with %s reserved, more than the %s "
		       "asked "
		       "about; record from the start of the program to decide "
		       "it.",
		       GP_BYTES(v->start), GP_BYTES(v->capacity));
	else
		gp_say(words,
		       "nothing is requested in the trace; to record requests, "
		       "call %s before the first step.",
		       verdict_record_call(v->release));
}

/* torch/cuda/memory.py, _record_memory_history: in 2.0 the first argument has
 * no default, and one event is kept unless more are asked for. */
const char *verdict_record_call(uint8_t release)
{
	return release > 0 ? "torch.cuda.memory._record_memory_history()"
			   : "torch.cuda.memory._record_memory_history(True, "
			     "trace_alloc_max_entries=1000000, "
			     "trace_alloc_record_context=True)";
}

struct gp_words verdict_sentence(const struct gp_verdict *v)
{
	struct gp_words words = { "" };

	switch (v->kind) {
	case GP_VERDICT_FITS: say_fits(&words, v); break;
	case GP_VERDICT_SETTING: say_setting(&words, v); break;
	case GP_VERDICT_TOO_SMALL: say_too_small(&words, v); break;
	case GP_VERDICT_NO_SETTING: say_no_setting(&words, v); break;
	case GP_VERDICT_UNDECIDED: say_undecided(&words, v); break;
	}
	return words;
}

/* ---- what else there is to know ---- */

/* The memory that would be enough: more than what is live, because blocks must
 * also be placed. In bytes if it would otherwise print like the capacity that
 * is too small. */
static void say_need(struct gp_words *words, const struct gp_verdict *v)
{
	char need[GP_BYTES_TEXT];

	if (!v->need || v->need == GP_UNLIMITED || v->high)
		return;
	gp_bytes_text(v->need, need);
	if (!strcmp(need, GP_BYTES(v->capacity)))
		gp_bytes_exact(v->need, need);
	gp_say(words, "It needs a device of %s", need);
	if (v->need != v->need_as_recorded)
		gp_say(words, " with the best setting");
	else if (v->begins == GP_BEGINS_WINDOW)
		gp_say(words, " as it is");
	if (v->need < v->need_as_recorded &&
	    v->need_as_recorded != GP_UNLIMITED)
		gp_say(words, ", of %s as it is",
		       GP_BYTES(v->need_as_recorded));
	gp_say(words, ". ");
}

static void say_search(struct gp_words *words, const struct gp_verdict *v)
{
	char count[GP_COUNT_TEXT], live[GP_BYTES_TEXT];
	const char *who = v->others ? "The program and others hold"
				    : "The program itself holds";

	gp_bytes_text(v->live + v->others, live);
	gp_count_text(v->searched, count);
	if (v->kind == GP_VERDICT_TOO_SMALL) {
		gp_say(words, "%s %s at once. ", who, live);
		say_need(words, v);
	}
	if (v->kind != GP_VERDICT_NO_SETTING)
		return;
	gp_say(words,
	       !v->is_complete ? "%s runs searched the settings, which does "
				 "not cover every combination of their values. "
	       : v->is_constrained
		       ? "All values of these were searched (%s runs represent "
			 "them). "
		       : "All values of the settings were searched (%s runs "
			 "represent them). ",
	       count);
	gp_say(words, "%s %s at once%s. ", who, live,
	       v->cause == GP_BY_LIMIT	    ? ", more than that fraction is"
	       : v->missing == GP_UNLIMITED ? ""
					    : ": an ideal allocator would fit");
}

bool verdict_tells_live(const struct gp_verdict *v)
{
	return !v->others && (v->kind == GP_VERDICT_TOO_SMALL ||
			      v->kind == GP_VERDICT_NO_SETTING);
}

/* Whether a smaller device serves the trace although some larger ones do
 * not. */
static bool is_by_chance(const struct gp_verdict *v, uint64_t *need)
{
	*need = v->kind == GP_VERDICT_FITS ? v->need_as_recorded : v->need;
	return (v->kind == GP_VERDICT_FITS || v->kind == GP_VERDICT_SETTING) &&
	       !v->high && v->capacity < *need && *need != GP_UNLIMITED;
}

/* A note if a request failed when it was recorded. */
static void say_refused(struct gp_words *words, const struct gp_verdict *v)
{
	/* The sentence for a trace that ends there says so already. */
	if (v->kind == GP_VERDICT_UNDECIDED ||
	    (v->kind == GP_VERDICT_SETTING && v->ends == GP_ENDS_FAILURE))
		return;
	gp_say(words,
	       "A request failed when this was recorded%s what the "
	       "program does when that is served is not in the trace, "
	       "and may need more. ",
	       v->is_unexplained && !v->was_limited
		       ? " with these settings and this memory, and the trace "
			 "does not show why; for example, cached memory is not "
			 "released while a pool is in use or a graph is "
			 "captured. Likewise,"
		       : ":");
}

/* A note if PyTorch may ignore the advised setting. */
static void say_ignored(struct gp_words *words, const struct gp_verdict *v)
{
	bool is_rocm = v->platform == GP_PLATFORM_ROCM;

	if (v->platform == GP_PLATFORM_UNKNOWN || !v->conf ||
	    !strstr(v->conf, "expandable_segments:True") ||
	    (is_rocm && v->release >= EXPANDABLE_ON_ROCM))
		return;
	gp_say(words,
	       "On %s, where this was recorded, PyTorch has "
	       "expandable_segments only in late releases; others warn that it "
	       "is not supported: --without expandable_segments finds another "
	       "setting. ",
	       is_rocm ? "ROCm" : "Windows");
}

/* Replays do not know a limit that is not in the trace. */
static void say_limited(struct gp_words *words, const struct gp_verdict *v)
{
	bool is_bad = v->kind == GP_VERDICT_TOO_SMALL ||
		      v->kind == GP_VERDICT_NO_SETTING;

	if (is_bad && v->capacity_below)
		gp_say(words,
		       "How much it may use is not in the trace: at least %s, "
		       "which was reserved, and less than %s, as a request was "
		       "refused. ",
		       GP_BYTES(v->capacity), GP_BYTES(v->capacity_below));
	if (v->was_limited && v->kind == GP_VERDICT_FITS)
		gp_say(words,
		       "When it was recorded, a limit such as a memory "
		       "fraction kept it from memory that the device had: with "
		       "that limit it may fail again. ");
}

/* What is known about only a part of the program. */
static void say_part(struct gp_words *words, const struct gp_verdict *v)
{
	if (v->kind == GP_VERDICT_UNDECIDED || v->is_unplayable)
		return;
	if (v->recorded)
		gp_say(words,
		       "At least %s was reserved when it was recorded, and not "
		       "all that led to it is in the trace: to compare "
		       "settings, "
		       "record from the start of the program. ",
		       GP_BYTES(v->recorded));
	else if (v->begins == GP_BEGINS_WINDOW)
		gp_say(words,
		       "The trace is a window that begins with %s reserved, "
		       "cached under the recorded settings%s. ",
		       GP_BYTES(v->start),
		       v->conf || v->kind != GP_VERDICT_FITS
			       ? ": what is said of others is an estimate"
			       : "");
}

/* For a state without requests: how much of it may be fragmentation. */
static void say_state(struct gp_words *words, const struct gp_verdict *v)
{
	if (!gp_verdict_is_unknown(v) || !v->live ||
	    gp_larger(v->start, v->recorded) > v->capacity)
		return;
	if (v->live >= v->start)
		gp_say(words,
		       "The program held all of the %s reserved at once: no "
		       "setting could have saved anything. ",
		       GP_BYTES(v->start));
	else
		gp_say(words,
		       "Of the %s reserved, the program needs %s with any "
		       "setting; at most %s could have been saved. ",
		       GP_BYTES(v->start), GP_BYTES(v->live),
		       GP_BYTES(v->start - v->live));
}

static void say_caveats(struct gp_words *words, const struct gp_verdict *v)
{
	say_ignored(words, v);
	say_part(words, v);
	say_state(words, v);
}

static struct gp_words trimmed(struct gp_words words)
{
	if (*words.text)
		words.text[strlen(words.text) - 1] = '\0';
	return words;
}

struct gp_words verdict_caveats(const struct gp_verdict *v)
{
	struct gp_words words = { "" };

	say_caveats(&words, v);
	say_limited(&words, v);
	return trimmed(words);
}

struct gp_words verdict_limits(const struct gp_verdict *v)
{
	struct gp_words words = { "" };
	uint64_t need;

	say_search(&words, v);
	say_caveats(&words, v);
	if (v->high && v->high != v->low)
		gp_say(&words, "Need between %s and %s. ", GP_BYTES(v->low),
		       GP_BYTES(v->high));
	if (v->is_failure)
		gp_say(&words, "To decide it, record from the start of the "
			       "program. ");
	if (is_by_chance(v, &need))
		gp_say(&words,
		       "Not every larger device serves it%s: all do from %s "
		       "on. A "
		       "little more work may not fit. ",
		       v->kind == GP_VERDICT_FITS && v->conf ? " as it is" : "",
		       GP_BYTES(need));
	if (v->was_refused)
		say_refused(&words, v);
	say_limited(&words, v);
	return trimmed(words);
}

struct gp_words verdict_line(const char *conf)
{
	struct gp_words words = { "" };
	const char *quote = !*conf || strpbrk(conf, "[]<>*? ") ? "'" : "";

	gp_say(&words, "PYTORCH_CUDA_ALLOC_CONF=%s%s%s", quote, conf, quote);
	return words;
}

struct gp_words verdict_other_name(const struct gp_verdict *v)
{
	struct gp_words words = { "" };

	if (v->release >= OTHER_NAME)
		gp_say(&words, "(PyTorch 2.10 and newer also read it from "
			       "PYTORCH_ALLOC_CONF)");
	return words;
}

void verdict_print_line(const struct gp_page *page, const char *before,
			const struct gp_verdict *v)
{
	struct gp_words other = verdict_other_name(v);
	int indent = (int)strlen(before);

	if (!v->conf)
		return;
	gp_page_command(page, before, verdict_line(v->conf).text);
	if (*other.text)
		fprintf(page->out, "%*s%s\n", indent, "", other.text);
}

/* ---- for a program ---- */

void gp_emit_verdict(struct gp_emit *json, const struct gp_verdict *v)
{
	gp_emit_object(json, "verdict", "verdict", v, GP_EMIT_LINES);
}

void gp_emit_verdicts(struct gp_emit *json, const struct gp_trace *trace,
		      const struct gp_study *study)
{
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < study->case_count; i++) {
		gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
		gp_emit_uint(json, "device", trace->devices[i].device);
		gp_emit_verdict(json, &study->verdicts[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

void gp_emit_trials(struct gp_emit *json, const struct gp_study *study)
{
	gp_emit_uint(json, "replays", study->replays);
	gp_emit_open(json, "tried", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < study->count; i++)
		gp_emit_object(json, NULL,
			       *study->trials[i].refusal ? "trial_refused"
							 : "trial",
			       &study->trials[i], GP_EMIT_LINES);
	gp_emit_close(json, ']');
}
