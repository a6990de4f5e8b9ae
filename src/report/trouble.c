/* SPDX-License-Identifier: MIT */
/* What went wrong in a run, explained. */
#include "report/trouble.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "report/group.h"
#include "report/page.h"
#include "trace/site.h"

/*
 * ---- the text of PyTorch's OutOfMemoryError: DeviceCachingAllocator::malloc
 * in c10/cuda/CUDACachingAllocator.cpp, and the messages that each release
 * printed when run. What NVML says about other processes is left out: a replay
 * has none ----
 */

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* The wording by release; a row applies until the release of the next row. */
static const struct wording {
	uint8_t since;
	const char *capacity; /* how "capacity" is spelled */
	bool has_limit;	      /* "... allowed; " */
	bool has_pools;	      /* "with ... allocated in private pools" */
	const char *setting, *documentation;
} wordings[] = {
	{ 1, "capacty", false, false, "max_split_size_mb",
	  " and PYTORCH_CUDA_ALLOC_CONF" },
	{ 2, "capacity", false, false,
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
	  "  (https://pytorch.org/docs/stable/notes/"
	  "cuda.html#environment-variables)" },
	{ 4, "capacity", false, true,
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
	  "  (https://pytorch.org/docs/stable/notes/"
	  "cuda.html#environment-variables)" },
	{ 5, "capacity", true, true,
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
	  "  (https://pytorch.org/docs/stable/notes/"
	  "cuda.html#environment-variables)" },
	{ 10, "capacity", true, true,
	  "PYTORCH_ALLOC_CONF=expandable_segments:True",
	  "  (https://pytorch.org/docs/stable/notes/"
	  "cuda.html#environment-variables)" },
	{ 11, "capacity", true, true,
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
	  "  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
	  "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)" },
};

#define OLD_TEXT       0  /* 2.0 has a sentence of its own */
#define DEVICE_AS_CHAR 3  /* 2.3 prints the device's number as a character */
#define HINT_IF_OFF    14 /* suggests expandable segments if they are off */
#define RESERVE_HINT   15 /* suggests a remedy for address space if on */

/* c10's format_size. */
static void say_size(struct gp_words *text, uint64_t size)
{
	if (size <= KIB)
		gp_say(text, "%" PRIu64 " bytes", size);
	else if (size <= MIB)
		gp_say(text, "%.2f KiB", (double)size / (double)KIB);
	else if (size <= GIB)
		gp_say(text, "%.2f MiB", (double)size / (double)MIB);
	else
		gp_say(text, "%.2f GiB", (double)size / (double)GIB);
}

/* "of which %s is free": a size between these words. */
static void say_with(struct gp_words *text, const char *before, uint64_t size,
		     const char *behind)
{
	gp_say(text, "%s", before);
	say_size(text, size);
	gp_say(text, "%s", behind);
}

/* ---- the message ---- */

static void say_limit(struct gp_words *text, const struct gp_oom *oom)
{
	if (oom->limit != GP_UNLIMITED)
		say_with(text, "", oom->limit, " allowed; ");
}

static void say_as_before(struct gp_words *text, const struct gp_oom *oom)
{
	say_with(text, "CUDA out of memory. Tried to allocate ",
		 oom->segment_size, " (GPU ");
	gp_say(text, "%u; ", oom->device);
	say_with(text, "", oom->device_total, " total capacity; ");
	say_with(text, "", oom->allocated, " already allocated; ");
	say_with(text, "", oom->device_free, " free; ");
	say_limit(text, oom);
	say_with(text, "", oom->reserved, " reserved in total by PyTorch)");
	gp_say(text, " If reserved memory is >> allocated memory try setting "
		     "max_split_size_mb to avoid fragmentation.  See "
		     "documentation for Memory Management and "
		     "PYTORCH_CUDA_ALLOC_CONF");
}

static void say_fragmentation(struct gp_words *text, const struct wording *w)
{
	gp_say(text,
	       " If reserved but unallocated memory is large try setting %s to "
	       "avoid fragmentation.  See documentation for Memory "
	       "Management%s",
	       w->setting, w->documentation);
}

/* The request would fit the device, but not into an expandable segment. */
static void say_reserve(struct gp_words *text, const struct gp_oom *oom)
{
	say_with(text,
		 " This allocation exceeds the expandable-segment "
		 "reserve of ",
		 oom->reserve,
		 " for this stream, and a single allocation cannot span "
		 "expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF "
		 "expandable_segments_reserve or "
		 "expandable_segments_reserve_by_class (or unset it) so that "
		 "a segment is at least ");
	say_with(text, "", oom->segment_size, ".");
}

static void say_address_space(struct gp_words *text)
{
	gp_say(text,
	       " expandable_segments is enabled. If instead the process is "
	       "running out of virtual address space (VSZ), expandable "
	       "segments may be over-reserving VA (each segment reserves "
	       "~9/8 of device memory, times the number of streams); reduce "
	       "it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve "
	       "/ expandable_segments_reserve_by_class.");
}

static void say_hint(struct gp_words *text, const struct gp_oom *oom,
		     const struct wording *w)
{
	if (oom->release < HINT_IF_OFF || !oom->is_expandable)
		say_fragmentation(text, w);
	else if (oom->release < RESERVE_HINT)
		return;
	else if (oom->reserve < oom->segment_size &&
		 oom->segment_size <= oom->device_total)
		say_reserve(text, oom);
	else
		say_address_space(text);
}

static void say_held(struct gp_words *text, const struct gp_oom *oom,
		     const struct wording *w)
{
	uint64_t pools = w->has_pools ? oom->pool_free : 0;
	uint64_t allocated = oom->allocated + pools;

	say_with(text, "Of the allocated memory ", allocated,
		 " is allocated by PyTorch, ");
	if (pools)
		say_with(text, "with ", pools,
			 " allocated in private pools (e.g., CUDA Graphs), ");
	say_with(text, "and ", oom->reserved - allocated,
		 " is reserved by PyTorch but unallocated.");
}

static void say_rejection(struct gp_words *text, const struct gp_oom *oom)
{
	say_with(text,
		 "CUDA out of memory. Allocation was preemptively rejected "
		 "because it would exceed per_process_memory_fraction limit. "
		 "Requested size: ",
		 oom->size, "");
}

static const struct wording *wording_of(uint8_t release)
{
	size_t i = sizeof(wordings) / sizeof(*wordings) - 1;

	while (i && wordings[i].since > release)
		i--;
	return &wordings[i];
}

static void say_now(struct gp_words *text, const struct gp_oom *oom)
{
	const struct wording *w = wording_of(oom->release);
	bool as_char = oom->release == DEVICE_AS_CHAR;

	say_with(text, "CUDA out of memory. Tried to allocate ",
		 oom->segment_size, ". GPU ");
	if (as_char && !oom->device)
		return; /* the character is a 0: the message ends there */
	gp_say(text, as_char ? "%c" : "%u", oom->device);
	gp_say(text, " has a total %s of ", w->capacity);
	say_with(text, "", oom->device_total, " of which ");
	say_with(text, "", oom->device_free, " is free. ");
	if (w->has_limit)
		say_limit(text, oom);
	say_held(text, oom, w);
	say_hint(text, oom, w);
}

const char *gp_oom_message(const struct gp_oom *oom,
			   char message[GP_OOM_MESSAGE])
{
	struct gp_words text = { "" };

	if (oom->is_rejected)
		say_rejection(&text, oom);
	else if (oom->release == OLD_TEXT)
		say_as_before(&text, oom);
	else
		say_now(&text, oom);
	snprintf(message, GP_OOM_MESSAGE, "%s", text.text);
	return message;
}

/* ---- where a run diverges from its recording ---- */

#define FRAMES 3 /* of the program, innermost first */

const struct gp_mismatch_row gp_mismatch_rows[] = {
	[GP_WRONG_ADDRESS] = { "wrong_address", "another address was chosen" },
	[GP_WRONG_SEGMENT_SIZE] = { "wrong_segment_size",
				    "a segment of another size was asked "
				    "for" },
	[GP_UNEXPECTED_SEGMENT] = { "unexpected_segment",
				    "a segment was asked for where none was "
				    "recorded" },
	[GP_MISSING_SEGMENT] = { "missing_segment",
				 "a segment was recorded where none was asked "
				 "for" },
	[GP_UNEXPECTED_OOM] = { "unexpected_oom",
				"memory ran out where the recording went on" },
};

static void print_site(const struct gp_page *page, const struct gp_trace *trace,
		       uint32_t site)
{
	const char *label = "  from";
	char text[GP_SITE_TEXT];

	for (int i = 0; i < FRAMES && site != GP_NO_SITE; i++) {
		gp_page_field(page, label, "%s",
			      gp_site_text(trace, site, text));
		site = gp_site_frame(trace, site);
		if (site != GP_NO_SITE)
			site = trace->sites[site].caller;
		if (gp_site_frame(trace, site) == GP_NO_SITE)
			return;
		label = "";
	}
}

static void print_candidates(const struct gp_page *page,
			     const struct gp_mismatch *mismatch)
{
	if (!mismatch->candidate_count) {
		gp_page_field(page, "  free", "no free block was large enough");
		return;
	}
	for (uint32_t i = 0; i < mismatch->candidate_count; i++) {
		const struct gp_candidate *c = &mismatch->candidates[i];

		gp_page_field(page, i ? "" : "  free",
			      "0x%" PRIx64 "  %s of a segment of %s%s", c->addr,
			      GP_BYTES(c->size), GP_BYTES(c->segment_size),
			      c->addr == mismatch->recorded ? "  (recorded)"
			      : c->addr == mismatch->chosen ? "  (chosen)"
							    : "");
	}
}

/* Prints addresses, or sizes if the mismatch is about a segment. */
static void print_choice(const struct gp_page *page,
			 const struct gp_mismatch *mismatch)
{
	if (mismatch->kind == GP_WRONG_ADDRESS)
		gp_page_field(page, "  chosen",
			      "0x%" PRIx64 ", recorded 0x%" PRIx64,
			      mismatch->chosen, mismatch->recorded);
	else if (mismatch->kind == GP_UNEXPECTED_OOM)
		gp_page_field(page, "  chosen", "none, recorded 0x%" PRIx64,
			      mismatch->recorded);
	else
		gp_page_field(page, "  chosen", "%s, recorded %s",
			      GP_BYTES(mismatch->chosen),
			      GP_BYTES(mismatch->recorded));
}

void gp_trouble_mismatch(const struct gp_page *page,
			 const struct gp_trace *trace, uint32_t device,
			 const struct gp_mismatch *mismatch)
{
	char event[GP_EVENT_TEXT], stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];

	if (!mismatch->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2, "First difference at %s: %s",
		     gp_event_words(trace, device, mismatch->event, event),
		     gp_mismatch_rows[mismatch->kind].sentence);
	gp_page_field(
		page, "  request", "%s bytes, %s, %s",
		GP_COUNT(mismatch->requested),
		gp_group_label(trace, GP_BY_STREAM, mismatch->stream, stream),
		gp_group_label(trace, GP_BY_POOL, mismatch->pool, pool));
	print_site(page, trace, mismatch->site);
	print_choice(page, mismatch);
	print_candidates(page, mismatch);
}

const char *gp_trouble_where(const struct gp_oom *oom)
{
	if (oom->room < oom->device_free)
		return "under the memory fraction that is set";
	/* A snapshot does not record PyTorch's memory limit. */
	if (oom->segment_size && oom->room >= oom->segment_size)
		return "on the device, which a limit such as a memory fraction "
		       "kept from it";
	return "on the device";
}

const char *gp_trouble_left(const struct gp_oom *oom,
			    char text[GP_TROUBLE_LEFT])
{
	snprintf(text, GP_TROUBLE_LEFT, "%s left %s", GP_BYTES(oom->room),
		 gp_trouble_where(oom));
	return text;
}

const char *gp_trouble_which(const struct gp_oom *oom)
{
	return oom->free_other_stream + oom->free_other_pool > oom->largest_free
		       ? " in its stream and pool"
		       : "";
}

const char *gp_trouble_largest(const struct gp_oom *oom,
			       char text[GP_TROUBLE_LARGEST])
{
	if (oom->largest_free)
		snprintf(text, GP_TROUBLE_LARGEST, "largest %s%s",
			 GP_BYTES(oom->largest_free), gp_trouble_which(oom));
	else
		snprintf(text, GP_TROUBLE_LARGEST,
			 "none in its stream and pool%s",
			 !oom->is_routed       ? ""
			 : oom->route.is_small ? " of small blocks"
					       : " of large blocks");
	return text;
}

static void print_cause(const struct gp_page *page, const struct gp_oom *oom)
{
	char held[GP_BYTES_TEXT], largest[GP_TROUBLE_LARGEST];
	char left[GP_TROUBLE_LEFT];

	gp_bytes_text(oom->free_bytes, held);
	gp_trouble_largest(oom, largest);
	gp_trouble_left(oom, left);
	/* The cause at this moment; whether a setting helps is for the judge to
	 * decide. */
	if (oom->cause == GP_CAUSE_FRAGMENTATION)
		gp_page_field(page, "  cause",
			      "enough in total, but no single block%s is "
			      "large enough: %s reserved and free (%s), and %s",
			      gp_trouble_which(oom), held, largest, left);
	else
		gp_page_field(page, "  cause",
			      "not enough in total: %s reserved and free and "
			      "%s",
			      held, left);
	gp_page_field(page, "  more",
		      "gpupool explain shows whether a setting serves it");
}

void gp_trouble_oom(const struct gp_page *page, const struct gp_trace *trace,
		    uint32_t device, const struct gp_oom *oom)
{
	char event[GP_EVENT_TEXT], message[GP_OOM_MESSAGE];

	if (!oom->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2,
		     "First OOM at %s: no room for %s (%s)",
		     gp_event_words(trace, device, oom->event, event),
		     GP_BYTES(oom->size), GP_PLURAL(oom->size, "byte"));
	print_cause(page, oom);
	gp_page_field(page, "  then", "%s allocated of %s reserved",
		      GP_BYTES(oom->allocated), GP_BYTES(oom->reserved));
	gp_page_field(page, "  PyTorch", "%s", gp_oom_message(oom, message));
	print_site(page, trace, oom->site);
}

const char *gp_trouble_others(const struct gp_trace *trace, uint32_t device,
			      const struct gp_no_room *others,
			      char text[GP_TROUBLE_OTHERS])
{
	char event[GP_EVENT_TEXT];

	snprintf(text, GP_TROUBLE_OTHERS,
		 "At %s others take more of the device than is left: %s are "
		 "missing",
		 gp_event_words(trace, device, others->event, event),
		 GP_BYTES(others->missing));
	return text;
}

void gp_trouble_no_room(const struct gp_page *page,
			const struct gp_trace *trace, uint32_t device,
			const struct gp_no_room *others)
{
	char text[GP_TROUBLE_OTHERS];

	if (!others->missing)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2, "%s",
		     gp_trouble_others(trace, device, others, text));
}

void gp_trouble_refusal(const struct gp_page *page,
			const struct gp_trace *trace, uint32_t device,
			const struct gp_replay_result *result)
{
	char event[GP_EVENT_TEXT];

	if (!result->refused)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2,
		     "%s refused by PyTorch's rules, first at %s: %s",
		     GP_PLURAL(result->refused, "request"),
		     gp_event_words(trace, device, result->first_refusal_event,
				    event),
		     result->first_refusal);
}
