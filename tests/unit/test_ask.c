/* SPDX-License-Identifier: MIT */
/* Questions: traces by name, answers as bytes, and threads that all ask. */
#include "gpupool/ask.h"

#include <pthread.h>
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

#define THREADS 4
#define TIMES	20

/* What "it" says never changes; what else is held comes and goes. */
static void *ask_often(void *arg)
{
	struct gp_session *session = arg;
	struct gp_reply first = replay_of(session, "it");

	for (int i = 0; i < TIMES; i++) {
		struct gp_reply again = replay_of(session, "it");
		struct gp_reply other;

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

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_name_is_the_trace_that_was_held_last, 0 },
		{ test_nothing_held_and_nothing_asked, 0 },
		{ test_threads_ask_at_once, 0 },
	};

	return suite_run("ask", tests, COUNT_OF(tests));
}
