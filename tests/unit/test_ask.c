/* SPDX-License-Identifier: MIT */
/* Questions: traces by name, answers as bytes, and threads that ask at the same
 * time. */
#include "gpupool/ask.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "trace_text.h"

#define ONE ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512}")
#define TWO                                                                    \
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"            \
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 4194304}")

static struct gp_session *session_of(const char *name, const char *text)
{
	struct gp_session *session = gp_session_create();

	gp_session_hold(session, name, trace_of(text));
	return session;
}

static struct gp_reply replay_of(struct gp_session *session, const char *name)
{
	const char *question[] = { "replay", name, "--format", "json" };
	struct gp_reply reply;

	gp_ask(session, 4, question, &reply);
	return reply;
}

START_TEST(test_a_name_is_the_trace_that_was_held_last)
{
	struct gp_session *session = session_of("it", ONE);
	struct gp_reply one = replay_of(session, "it"), two, none;

	gp_session_hold(session, "it", trace_of(TWO));
	two = replay_of(session, "it");
	gp_session_drop(session, "it");
	gp_session_drop(session, "it");
	none = replay_of(session, "it");
	ck_assert_int_eq(one.status, GP_OK);
	ck_assert_int_eq(two.status, GP_OK);
	ck_assert_ptr_nonnull(strstr(one.out, "\"peak_allocated_bytes\": 512"));
	ck_assert_ptr_nonnull(
		strstr(two.out, "\"peak_allocated_bytes\": 4194816"));
	ck_assert_int_eq(none.status, GP_INPUT);
	ck_assert_str_eq(none.diag.file, "it");
	ck_assert_uint_eq(none.out_length, 0);
	ck_assert_ptr_nonnull(strstr(none.err, none.diag.what));
	gp_reply_release(&one);
	gp_reply_release(&two);
	gp_reply_release(&none);
	gp_session_destroy(session);
}
END_TEST

START_TEST(test_nothing_held_and_nothing_asked)
{
	const char *version[] = { "version" };
	struct gp_reply reply;

	gp_ask(NULL, 1, version, &reply);
	ck_assert_int_eq(reply.status, GP_OK);
	ck_assert_uint_eq(strlen(reply.out), reply.out_length);
	gp_reply_release(&reply);
	gp_ask(NULL, 0, NULL, &reply);
	ck_assert_int_eq(reply.status, GP_USAGE);
	ck_assert_uint_gt(reply.err_length, 0);
	gp_reply_release(&reply);
	gp_session_destroy(NULL);
}
END_TEST

static struct gp_reply view_of(struct gp_session *session, const char *what,
			       const char *capacity, const char *by)
{
	const char *question[] = { "view",     what,	     "it",
				   "--format", "json",	     "--by",
				   by,	       "--capacity", capacity };
	struct gp_reply reply;

	gp_ask(session, COUNT_OF(question), question, &reply);
	return reply;
}

/* A run is kept for the next question about it. */
START_TEST(test_views_are_the_same_the_second_time)
{
	static const char *const whats[] = { "bands", "holders", "events",
					     "state" };
	static const char *const capacities[] = { "1GiB", "2GiB", "unlimited" };
	static const char *const bys[] = { "site", "size", "stream", "pool" };
	struct gp_session *kept = session_of("it", TWO);

	for (size_t i = 0; i < 200; i++) {
		const char *what = whats[i % 4], *by = bys[i / 4 % 4];
		const char *capacity = capacities[i * 7 % 13 % 3];
		struct gp_session *fresh = session_of("it", TWO);
		struct gp_reply a = view_of(kept, what, capacity, by);
		struct gp_reply b = view_of(fresh, what, capacity, by);

		ck_assert_int_eq(a.status, GP_OK);
		ck_assert_str_eq(a.out, b.out);
		gp_reply_release(&a);
		gp_reply_release(&b);
		gp_session_destroy(fresh);
	}
	gp_session_hold(kept, "it", trace_of(ONE));
	gp_session_drop(kept, "it");
	gp_session_destroy(kept);
}
END_TEST

START_TEST(test_a_view_is_of_the_trace_that_is_held_now)
{
	struct gp_session *session = session_of("it", TWO);
	struct gp_reply two = view_of(session, "events", "1GiB", "site"), one;

	gp_session_hold(session, "it", trace_of(ONE));
	one = view_of(session, "events", "1GiB", "site");
	ck_assert_ptr_nonnull(strstr(two.out, "\"found\": 2"));
	ck_assert_ptr_nonnull(strstr(one.out, "\"found\": 1"));
	gp_reply_release(&one);
	gp_reply_release(&two);
	gp_session_destroy(session);
}
END_TEST

#define THREADS 4
#define TIMES	20

/* The answers for "it" never change, while other traces come and go. */
static void *ask_often(void *arg)
{
	struct gp_session *session = arg;
	struct gp_reply first = replay_of(session, "it");

	for (int i = 0; i < TIMES; i++) {
		struct gp_reply again = replay_of(session, "it");
		struct gp_reply view =
			view_of(session, "bands", "1GiB", "site");
		struct gp_reply other;

		ck_assert_int_eq(view.status, GP_OK);
		gp_reply_release(&view);
		gp_session_hold(session, "other", trace_of(TWO));
		other = replay_of(session, "other");
		gp_session_drop(session, "other");
		ck_assert_str_eq(first.out, again.out);
		gp_reply_release(&again);
		gp_reply_release(&other);
	}
	gp_reply_release(&first);
	return NULL;
}

START_TEST(test_threads_ask_at_once)
{
	struct gp_session *session = session_of("it", ONE);
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, ask_often, session),
			0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	gp_session_destroy(session);
}
END_TEST

/* ---- a question that is abandoned ---- */

struct asking {
	struct gp_session *session;
	struct gp_reply reply;
	atomic_bool is_done;
};

/* More runs than can be made before it is stopped. */
static void *ask_much(void *arg)
{
	static char values[1 << 20] = "--set=capacity=1GiB";
	struct asking *asking = arg;
	const char *question[] = { "sweep", "it", "--jobs=1", values };
	size_t length = strlen(values);

	for (int mib = 1; mib < 50000; mib++)
		length += (size_t)snprintf(values + length,
					   sizeof(values) - length, ",%dMiB",
					   mib);
	gp_ask(asking->session, COUNT_OF(question), question, &asking->reply);
	atomic_store(&asking->is_done, true);
	return NULL;
}

START_TEST(test_a_sweep_that_is_stopped_ends)
{
	struct asking asking = { .session = session_of("it", ONE) };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, ask_much, &asking), 0);
	while (!atomic_load(&asking.is_done))
		gp_ask_stop(asking.session, &asking.reply);
	pthread_join(thread, NULL);
	ck_assert_int_eq(asking.reply.status, GP_SYSTEM);
	ck_assert_ptr_nonnull(
		strstr(asking.reply.diag.what, "interrupted after"));
	gp_reply_release(&asking.reply);
	gp_session_destroy(asking.session);
}
END_TEST

/* It also does not end the process, or read the program's input. */
START_TEST(test_no_server_in_another_program)
{
	const char *question[] = { "mcp" };
	struct gp_reply reply;

	gp_ask(NULL, 1, question, &reply);
	ck_assert_int_eq(reply.status, GP_USAGE);
	ck_assert_ptr_nonnull(strstr(reply.diag.what, "another program"));
	gp_reply_release(&reply);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_name_is_the_trace_that_was_held_last, 0 },
		{ test_nothing_held_and_nothing_asked, 0 },
		{ test_views_are_the_same_the_second_time, 0 },
		{ test_a_view_is_of_the_trace_that_is_held_now, 0 },
		{ test_threads_ask_at_once, 0 },
		{ test_a_sweep_that_is_stopped_ends, 0 },
		{ test_no_server_in_another_program, 0 },
	};

	return suite_run("ask", tests, COUNT_OF(tests));
}
