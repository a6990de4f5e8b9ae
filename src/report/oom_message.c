/* SPDX-License-Identifier: MIT */
/*
 * The text of PyTorch's OutOfMemoryError: DeviceCachingAllocator::malloc in
 * c10/cuda/CUDACachingAllocator.cpp, and what each release said when run.  Left
 * out is what NVML tells of other processes, which a replay has none of.
 */
#include "report/oom_message.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/page.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* How releases word it; each row serves up to the next one's. */
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
#define HINT_IF_OFF    14 /* expandable segments are hinted at where off */
#define RESERVE_HINT   15 /* with what to do about address space where on */

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

/* "of which %s is free": the size, between its words. */
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

/* A request that would fit the device, but no segment. */
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
