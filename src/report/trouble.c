/* SPDX-License-Identifier: MIT */
/* What went wrong in a run, explained. */
#include "report/trouble.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "trace/site.h"
#include "report/group.h"
#include "report/oom_message.h"

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
	char size[GP_BYTES_TEXT], whole[GP_BYTES_TEXT];

	if (!mismatch->candidate_count) {
		gp_page_field(page, "  free", "no free block was large enough");
		return;
	}
	for (uint32_t i = 0; i < mismatch->candidate_count; i++) {
		const struct gp_candidate *c = &mismatch->candidates[i];

		gp_page_field(page, i ? "" : "  free",
			      "0x%" PRIx64 "  %s of a segment of %s%s", c->addr,
			      gp_bytes_text(c->size, size),
			      gp_bytes_text(c->segment_size, whole),
			      c->addr == mismatch->recorded ? "  (recorded)"
			      : c->addr == mismatch->chosen ? "  (chosen)"
							    : "");
	}
}

/* Addresses, or sizes where the mismatch is about a segment. */
static void print_choice(const struct gp_page *page,
			 const struct gp_mismatch *mismatch)
{
	char chosen[GP_BYTES_TEXT], recorded[GP_BYTES_TEXT];

	if (mismatch->kind == GP_WRONG_ADDRESS)
		gp_page_field(page, "  chosen",
			      "0x%" PRIx64 ", recorded 0x%" PRIx64,
			      mismatch->chosen, mismatch->recorded);
	else
		gp_page_field(page, "  chosen", "%s, recorded %s",
			      gp_bytes_text(mismatch->chosen, chosen),
			      gp_bytes_text(mismatch->recorded, recorded));
}

void gp_trouble_mismatch(const struct gp_page *page,
			 const struct gp_trace *trace, uint32_t device,
			 const struct gp_mismatch *mismatch)
{
	char event[GP_EVENT_TEXT], bytes[GP_COUNT_TEXT];
	char stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];

	if (!mismatch->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2, "First difference at %s: %s",
		     gp_event_words(trace, device, mismatch->event, event),
		     gp_mismatch_rows[mismatch->kind].sentence);
	gp_page_field(
		page, "  request", "%s bytes, %s, %s",
		gp_count_text(mismatch->requested, bytes),
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
	/* A snapshot does not tell which limit PyTorch had. */
	if (oom->segment_size && oom->room >= oom->segment_size)
		return "on the device, which a limit such as a memory fraction "
		       "kept from it";
	return "on the device";
}

const char *gp_trouble_left(const struct gp_oom *oom,
			    char text[GP_TROUBLE_LEFT])
{
	char bytes[GP_BYTES_TEXT];

	snprintf(text, GP_TROUBLE_LEFT, "%s left %s",
		 gp_bytes_text(oom->room, bytes), gp_trouble_where(oom));
	return text;
}

const char *gp_trouble_largest(const struct gp_oom *oom,
			       char text[GP_TROUBLE_LARGEST])
{
	char bytes[GP_BYTES_TEXT];

	if (oom->largest_free)
		snprintf(text, GP_TROUBLE_LARGEST, "largest %s",
			 gp_bytes_text(oom->largest_free, bytes));
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
	/* Of this moment: whether a setting helps is the judge's to say. */
	if (oom->cause == GP_CAUSE_FRAGMENTATION)
		gp_page_field(page, "  cause",
			      "enough in total, but no single block is large "
			      "enough: %s reserved and free (%s), and %s",
			      held, largest, left);
	else
		gp_page_field(page, "  cause",
			      "not enough in total: %s reserved and free and "
			      "%s",
			      held, left);
	gp_page_field(page, "  more",
		      "gpupool explain tells whether a setting serves it");
}

void gp_trouble_oom(const struct gp_page *page, const struct gp_trace *trace,
		    uint32_t device, const struct gp_oom *oom)
{
	char size[GP_BYTES_TEXT], bytes[GP_COUNT_TEXT], event[GP_EVENT_TEXT];
	char reserved[GP_BYTES_TEXT], allocated[GP_BYTES_TEXT];
	char message[GP_OOM_MESSAGE];

	if (!oom->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2,
		     "First OOM at %s: no room for %s (%s bytes)",
		     gp_event_words(trace, device, oom->event, event),
		     gp_bytes_text(oom->size, size),
		     gp_count_text(oom->size, bytes));
	print_cause(page, oom);
	gp_page_field(page, "  then", "%s allocated of %s reserved",
		      gp_bytes_text(oom->allocated, allocated),
		      gp_bytes_text(oom->reserved, reserved));
	gp_page_field(page, "  PyTorch", "%s", gp_oom_message(oom, message));
	print_site(page, trace, oom->site);
}

const char *gp_trouble_others(const struct gp_trace *trace, uint32_t device,
			      const struct gp_no_room *others,
			      char text[GP_TROUBLE_OTHERS])
{
	char event[GP_EVENT_TEXT], bytes[GP_BYTES_TEXT];

	snprintf(text, GP_TROUBLE_OTHERS,
		 "At %s others take more of the device than is left: %s are "
		 "missing",
		 gp_event_words(trace, device, others->event, event),
		 gp_bytes_text(others->missing, bytes));
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
	char event[GP_EVENT_TEXT], count[GP_PLURAL_TEXT];

	if (!result->refused)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2,
		     "%s refused by PyTorch's rules, first at %s: %s",
		     gp_plural_text(result->refused, "request", count),
		     gp_event_words(trace, device, result->first_refusal_event,
				    event),
		     result->first_refusal);
}
