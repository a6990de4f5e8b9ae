/* SPDX-License-Identifier: MIT */
/* Thread pools: each piece is run once, with its result in its slot, whatever
 * the threads do. */
#include "study/sweep/thread_pool.h"

#include "suite.h"

#define PIECES 300

struct job {
	atomic_int begun[PIECES];
	int told[PIECES]; /* by the caller's thread */
	size_t tellings;
	atomic_bool stop;
	size_t stop_at;
};

static void work(void *arg, size_t piece)
{
	struct job *job = arg;

	atomic_fetch_add(&job->begun[piece], 1);
	if (piece == job->stop_at)
		atomic_store(&job->stop, true);
}

static void done(void *arg, size_t piece)
{
	struct job *job = arg;

	job->told[piece]++;
	job->tellings++;
}

static size_t run(struct job *job, size_t threads, size_t count)
{
	return gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = threads,
		.count = count,
		.work = work,
		.done = done,
		.arg = job,
		.stop = &job->stop,
	});
}

START_TEST(test_every_piece_is_done_once_and_told_once)
{
	static const size_t threads[] = { 0, 1, 2, 7, 400 };

	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		struct job job = { .stop_at = PIECES };

		ck_assert_uint_eq(run(&job, threads[i], PIECES), PIECES);
		ck_assert_uint_eq(job.tellings, PIECES);
		for (size_t p = 0; p < PIECES; p++) {
			ck_assert_int_eq(job.begun[p], 1);
			ck_assert_int_eq(job.told[p], 1);
		}
	}
}
END_TEST

START_TEST(test_no_pieces_is_no_work)
{
	struct job job = { .stop_at = PIECES };

	ck_assert_uint_eq(run(&job, 4, 0), 0);
	ck_assert_uint_eq(job.tellings, 0);
}
END_TEST

/* Pieces begun before the stop are finished and reported; none is left half
 * done. */
START_TEST(test_a_stop_keeps_what_was_begun)
{
	static const size_t threads[] = { 1, 3 };

	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		struct job job = { .stop_at = 20 };
		size_t count = run(&job, threads[i], PIECES), begun = 0;

		for (size_t p = 0; p < PIECES; p++)
			begun += (size_t)job.begun[p];
		ck_assert_uint_eq(begun, count);
		ck_assert_uint_eq(job.tellings, count);
		ck_assert_uint_ge(count, 21);
		for (size_t p = 0; p <= 20; p++)
			ck_assert_int_eq(job.told[p], 1);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_every_piece_is_done_once_and_told_once, 0 },
		{ test_no_pieces_is_no_work, 0 },
		{ test_a_stop_keeps_what_was_begun, 0 },
	};

	return suite_run("pool", tests, COUNT_OF(tests));
}
