/* SPDX-License-Identifier: MIT */
/* Searches, compared with a plain loop over the events. */
#include "study/metrics/event_search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "random_trace.h"

/* The text is in lower case. */
static bool has_text(const char *in, const char *text)
{
	char lower[256];
	size_t i = 0;

	for (; in[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)in[i]);
	lower[i] = '\0';
	return strstr(lower, text) != NULL;
}

static bool stack_has(const struct gp_trace *trace, uint32_t site,
		      const char *text)
{
	for (; site != GP_NO_SITE; site = trace->sites[site].caller)
		if (has_text(trace->texts[trace->sites[site].text], text))
			return true;
	return false;
}

/* In these traces, only frees have a stack that differs from their block's. */
static bool is_wanted(const struct gp_trace *trace, const struct gp_event *e,
		      const struct gp_event_search *s)
{
	const struct gp_device_trace *d = &trace->devices[0];
	uint8_t has = gp_event_fields((enum gp_event_kind)e->kind);
	bool found =
		!s->text || !*s->text || stack_has(trace, e->site, s->text);

	for (size_t i = 0; !found && has & GP_HAS_ID && i < d->event_count; i++)
		if (d->events[i].kind == GP_ALLOC && d->events[i].id == e->id)
			found = stack_has(trace, d->events[i].site, s->text);
	if (s->kinds && !(s->kinds & UINT32_C(1) << e->kind))
		return false;
	if (s->least && (!(has & GP_HAS_SIZE) || e->size < s->least))
		return false;
	if (s->most && (!(has & GP_HAS_SIZE) || e->size > s->most))
		return false;
	if (s->stream != GP_NO_STREAM &&
	    (!(has & GP_HAS_STREAM) || e->stream != s->stream))
		return false;
	if (s->id != GP_NO_ID && (!(has & GP_HAS_ID) || e->id != s->id))
		return false;
	return found;
}

static void check_search(const struct gp_trace *trace,
			 const struct gp_event_search *s)
{
	const struct gp_device_trace *d = &trace->devices[0];
	uint64_t to = s->to && s->to < d->event_count ? s->to : d->event_count;
	uint32_t *sites = gp_alloc_sites(d);
	struct gp_event_rows rows;
	uint64_t found = 0;
	size_t told = 0;

	gp_event_search(trace, 0, s, sites, &rows);
	for (uint64_t i = s->from; i < to; i++) {
		if (!is_wanted(trace, &d->events[i], s))
			continue;
		if (found++ < s->row || told == s->rows)
			continue;
		ck_assert_uint_lt(told, rows.count);
		ck_assert_uint_eq(rows.events[told++], i);
	}
	ck_assert_uint_eq(rows.count, told);
	ck_assert_uint_eq(rows.found, found);
	gp_event_rows_release(&rows);
	free(sites);
}

/* Half of the limits are the size of an event. */
static uint64_t limit(const struct gp_trace *trace, uint64_t dice)
{
	const struct gp_device_trace *d = &trace->devices[0];

	return dice & 1 && d->event_count
		       ? d->events[(dice >> 1) % d->event_count].size
		       : dice >> 1 & 1048575;
}

START_TEST(a_search_finds_what_a_walk_finds)
{
	static const char *const texts[] = { NULL, "b.py", "h", "", "none" };
	uint64_t seed = 7;

	for (int i = 0; i < 400; i++) {
		struct gp_trace *trace =
			random_trace(seed, (uint32_t)(next_random(&seed) % 90));
		uint64_t dice = next_random(&seed);
		struct gp_event_search search = {
			.from = dice % 20,
			.to = dice >> 8 & 3 ? 0 : dice >> 10 & 127,
			.text = texts[(dice >> 20) % COUNT_OF(texts)],
			.least = dice >> 24 & 3 ? 0 : limit(trace, dice >> 28),
			.most = dice >> 26 & 3 ? 0 : limit(trace, dice >> 30),
			.kinds = dice >> 44 & 1 ? 0 : 1 << GP_FREE,
			.id = dice >> 45 & 7 ? GP_NO_ID : 0,
			.stream = dice >> 48 & 3 ? GP_NO_STREAM : 0,
			.row = dice >> 50 & 7,
			.rows = dice >> 53 & 31,
		};

		check_search(trace, &search);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_search_finds_what_a_walk_finds, 0 },
	};

	return suite_run("event_search", tests, COUNT_OF(tests));
}
