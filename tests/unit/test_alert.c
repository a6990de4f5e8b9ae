/* SPDX-License-Identifier: MIT */
/* Thresholds: how they are written, and when they fire. */
#include <string.h>

#include "gpupool/metrics.h"
#include "suite.h"

START_TEST(what_is_written_is_understood)
{
	static const struct {
		const char *text;
		enum gp_measure_id id;
		enum gp_alert_operator op;
		double limit;
		uint64_t events;
	} rows[] = {
		{ "fragmentation>0.3", GP_FRAGMENTATION, GP_ABOVE, 0.3, 1 },
		{ " fragmentation >= 30% for 100 events ", GP_FRAGMENTATION,
		  GP_AT_LEAST, 0.3, 100 },
		{ "reserved_bytes > 4GiB for 1 event", GP_RESERVED, GP_ABOVE,
		  4294967296.0, 1 },
		{ "utilization<.5 for 7", GP_UTILIZATION, GP_BELOW, .5, 7 },
		{ "num_ooms>0", GP_NUM_OOMS, GP_ABOVE, 0, 1 },
		{ "gap_bytes<=1024", GP_GAP, GP_AT_MOST, 1024, 1 },
	};
	struct gp_diag diag = { 0 };
	struct gp_alert alert;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		ck_assert_int_eq(gp_alert_parse(rows[i].text, &alert, &diag),
				 GP_OK);
		ck_assert_int_eq(alert.id, rows[i].id);
		ck_assert_int_eq(alert.op, rows[i].op);
		ck_assert_double_eq_tol(alert.limit, rows[i].limit, 1e-12);
		ck_assert_uint_eq(alert.events, rows[i].events);
	}
}
END_TEST

START_TEST(every_measure_can_be_named)
{
	for (unsigned i = 0; i < GP_MEASURES; i++) {
		struct gp_alert alert;
		struct gp_diag diag = { 0 };
		char text[128];

		snprintf(text, sizeof(text), "%s>1", gp_measures[i].key);
		ck_assert_int_eq(gp_alert_parse(text, &alert, &diag), GP_OK);
		ck_assert_uint_eq(alert.id, i);
		snprintf(text, sizeof(text), "%sx>1", gp_measures[i].key);
		ck_assert_int_eq(gp_alert_parse(text, &alert, &diag), GP_USAGE);
	}
}
END_TEST

START_TEST(what_is_not_is_refused)
{
	static const char *const rows[] = {
		"",
		">3",
		"fragmentation",
		"fragmentation=0.3",
		"fragmentation>",
		"fragmentation>high",
		"fragmentation>-1",
		"num_ooms>1e18",
		"fragmentation>0.3 for",
		"fragmentation>0.3 for 0 events",
		"fragmentation>0.3 for 10 seconds",
		"fragmentation>0.3 0.4",
		"nonsense>1",
		"reserved>1GiB", /* a label, not a key */
		"reserved_bytes>4 parsecs",
		"num_ooms>0 for 3 events",
		"num_ooms>many",
	};
	struct gp_diag diag = { 0 };
	struct gp_alert alert;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_int_eq(gp_alert_parse(rows[i], &alert, &diag),
				 GP_USAGE);
}
END_TEST

/* The part beyond the longest text is not ignored. */
START_TEST(so_long_a_limit_is_refused)
{
	struct gp_diag diag = { 0 };
	struct gp_alert alert;
	char text[160];

	snprintf(text, sizeof(text), "num_ooms>%-127s", "1");
	ck_assert_int_eq(gp_alert_parse(text, &alert, &diag), GP_OK);
	snprintf(text, sizeof(text), "num_ooms>%-127sx", "1");
	ck_assert_int_eq(gp_alert_parse(text, &alert, &diag), GP_USAGE);
	ck_assert_ptr_nonnull(strstr(diag.what, "it is too long"));
}
END_TEST

/* Allocated tens of bytes, of 100 reserved, event by event. */
static struct gp_alert watch(const char *text, const char *tens)
{
	struct gp_replay_result result = { .ooms.count = 2 };
	struct gp_diag diag = { 0 };
	struct gp_alert alert;

	ck_assert_int_eq(gp_alert_parse(text, &alert, &diag), GP_OK);
	for (uint64_t i = 0; tens[i]; i++)
		gp_alert_look(
			&alert,
			&(struct gp_moment){
				.event = i,
				.reserved = 100,
				.allocated = (uint64_t)(tens[i] - '0') * 10 });
	gp_alert_end(&alert, &result);
	return alert;
}

START_TEST(it_fires_when_it_lasted_long_enough)
{
	static const struct {
		const char *text, *tens;
		bool fires;
		uint64_t first, length;
		double worst;
	} rows[] = {
		{ "fragmentation>0.5", "9999", false, 0, 0, 0 },
		{ "fragmentation>0.5", "9495", true, 1, 1, .6 },
		{ "fragmentation>0.5", "9555", false, 0, 0, 0 },
		{ "fragmentation>=0.5", "9555", true, 1, 3, .5 },
		{ "fragmentation>0.5 for 3 events", "94494429", true, 4, 3,
		  .8 },
		{ "fragmentation>0.5 for 3 events", "9449449", false, 0, 0, 0 },
		{ "fragmentation>0.5 for 3 events", "92229111", true, 1, 3,
		  .8 },
		{ "allocated_bytes<30 for 2 events", "932", false, 0, 0, 0 },
		{ "allocated_bytes<30 for 2 events", "9321", true, 2, 2, 10 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_alert alert = watch(rows[i].text, rows[i].tens);

		ck_assert_int_eq(alert.has_fired, rows[i].fires);
		if (!alert.has_fired)
			continue;
		ck_assert_uint_eq(alert.fired_first, rows[i].first);
		ck_assert_uint_eq(alert.fired_length, rows[i].length);
		ck_assert_double_eq_tol(alert.worst, rows[i].worst, 1e-12);
	}
}
END_TEST

static bool is_beyond(enum gp_alert_operator op, char now, char limit)
{
	return op == GP_ABOVE	   ? now > limit
	       : op == GP_AT_LEAST ? now >= limit
	       : op == GP_BELOW	   ? now < limit
				   : now <= limit;
}

/* The first of the rows that are as far beyond the limit as any. */
static void compare_row(const struct gp_alert *alert, const char *tens,
			char limit)
{
	bool is_upper = alert->op == GP_ABOVE || alert->op == GP_AT_LEAST;
	size_t from = 0, n = strlen(tens), to = 0;
	char worst;

	while (from < n) {
		to = from;
		while (to < n && is_beyond(alert->op, tens[to], limit))
			to++;
		if (to - from >= alert->events)
			break;
		from = to + 1;
	}
	ck_assert_int_eq(alert->has_fired, from < n);
	if (from >= n)
		return;
	ck_assert_uint_eq(alert->fired_first, from);
	ck_assert_uint_eq(alert->fired_length, to - from);
	worst = tens[from];
	for (size_t i = from; i < to; i++)
		if (is_upper ? tens[i] > worst : tens[i] < worst)
			worst = tens[i];
	ck_assert_double_eq_tol(alert->worst, (worst - '0') * 10, 1e-9);
}

START_TEST(the_first_row_that_is_long_enough_fires)
{
	static const char *const signs[] = { ">", ">=", "<", "<=" };
	uint64_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		char tens[16] = "", text[64];
		char limit = (char)('0' + next_random(&seed) % 4);
		size_t n = 1 + next_random(&seed) % 14;
		struct gp_alert alert;

		for (size_t i = 0; i < n; i++)
			tens[i] = (char)('0' + next_random(&seed) % 4);
		snprintf(text, sizeof(text),
			 "allocated_bytes%s%c0 for %u events",
			 signs[next_random(&seed) % COUNT_OF(signs)], limit,
			 1 + (unsigned)(next_random(&seed) % 5));
		alert = watch(text, tens);
		compare_row(&alert, tens, limit);
	}
}
END_TEST

START_TEST(a_sentence_says_when)
{
	struct gp_alert alert =
		watch("fragmentation>0.5 for 3 events", "94494429");
	char text[GP_ALERT_TEXT];

	ck_assert_str_eq(gp_alert_text(&alert, text),
			 "fragmentation was above 0.5 for 3 events from event "
			 "4 on, 0.8 at the most");
	alert = watch("num_ooms>1", "9");
	ck_assert_str_eq(gp_alert_text(&alert, text), "num_ooms is 2, above 1");
}
END_TEST

/* The worst value lies far beyond the limit. */
START_TEST(a_sentence_says_how_bad_it_was)
{
	static const struct {
		const char *text, *told;
	} rows[] = {
		{ "allocated_bytes>10", "above 10 B for 3 events from event 1 "
					"on, 40 B at the most" },
		{ "allocated_bytes>=20", "at least 20 B for 3 events from "
					 "event 1 on, 40 B at the most" },
		{ "allocated_bytes<50", "below 50 B for 3 events from event 1 "
					"on, 20 B at the least" },
		{ "allocated_bytes<=40", "at most 40 B for 3 events from event "
					 "1 on, 20 B at the least" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *tens =
			strchr(rows[i].text, '>') ? "12430" : "92439";
		struct gp_alert alert = watch(rows[i].text, tens);
		char text[GP_ALERT_TEXT];

		gp_alert_text(&alert, text);
		ck_assert_msg(strstr(text, rows[i].told), "%s", text);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ what_is_written_is_understood, 0 },
		{ every_measure_can_be_named, 0 },
		{ what_is_not_is_refused, 0 },
		{ so_long_a_limit_is_refused, 0 },
		{ it_fires_when_it_lasted_long_enough, 0 },
		{ the_first_row_that_is_long_enough_fires, 0 },
		{ a_sentence_says_when, 0 },
		{ a_sentence_says_how_bad_it_was, 0 },
	};

	return suite_run("alert", tests, COUNT_OF(tests));
}
