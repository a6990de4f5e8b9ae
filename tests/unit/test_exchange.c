/* SPDX-License-Identifier: MIT */
/* What ranks of a job get from each other: here two ranks in one process. */
#include "simcuda/program/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simcuda/simcuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "suite.h"

#define INT64 4 /* ncclDataType_t */

static char folder[] = "/tmp/gpupool-exchange-XXXXXX";

struct job {
	struct line *lines[2];
	int64_t *sent[2], *received[2]; /* on the device */
};

static int64_t *on_device(int64_t first, int64_t second)
{
	int64_t numbers[] = { first, second };
	void *at;

	cudaMalloc(&at, 64);
	cudaMemcpy(at, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
	return at;
}

static struct job begin(void)
{
	struct job job;

	simcuda_reset();
	for (int i = 0; i < 2; i++) {
		job.lines[i] = line_open("pair", 2, i);
		ck_assert(!job.lines[i]->is_alone);
		job.sent[i] = on_device(10 * (i + 1), 10 * (i + 1) + 1);
		job.received[i] = on_device(-1, -1);
	}
	return job;
}

static void end(struct job *job)
{
	line_close(job->lines[0]);
	line_close(job->lines[1]);
}

static struct exchange gathered(const struct job *job, int rank)
{
	return (struct exchange){
		.kind = EXCHANGE_GATHER,
		.from = (uintptr_t)job->sent[rank],
		.sent = sizeof(int64_t),
		.root = EXCHANGE_ALL,
		.to = (uintptr_t)job->received[rank],
		.part = sizeof(int64_t),
	};
}

static void assert_received(const struct job *job, int rank, int64_t first,
			    int64_t second)
{
	int64_t numbers[2];

	cudaMemcpy(numbers, job->received[rank], sizeof(numbers),
		   cudaMemcpyDeviceToHost);
	ck_assert_int_eq(numbers[0], first);
	ck_assert_int_eq(numbers[1], second);
}

static void exchange_both(const struct job *job, struct exchange one,
			  struct exchange other)
{
	ck_assert(exchange(job->lines[0], &one));
	ck_assert(exchange(job->lines[1], &other));
}

START_TEST(test_both_get_both)
{
	struct job job = begin();

	exchange_both(&job, gathered(&job, 0), gathered(&job, 1));
	assert_received(&job, 0, 10, 20);
	assert_received(&job, 1, 10, 20);
	end(&job);
}
END_TEST

START_TEST(test_a_part_of_what_is_reduced)
{
	struct job job = begin();
	struct exchange what[2];

	for (int i = 0; i < 2; i++) {
		what[i] = gathered(&job, i);
		what[i].kind = EXCHANGE_REDUCE;
		what[i].sent = 2 * sizeof(int64_t);
		what[i].offset = (uint64_t)i * sizeof(int64_t);
		what[i].type = INT64;
	}
	exchange_both(&job, what[0], what[1]);
	assert_received(&job, 0, 30, -1);
	assert_received(&job, 1, 32, -1);
	end(&job);
}
END_TEST

START_TEST(test_memory_that_is_used_anew_gets_nothing)
{
	struct job job = begin();
	struct exchange one = gathered(&job, 0), other = gathered(&job, 1);

	ck_assert(exchange(job.lines[0], &one));
	exchange_forget((uintptr_t)job.received[0], 8);
	ck_assert(exchange(job.lines[1], &other));
	assert_received(&job, 0, -1, -1);
	assert_received(&job, 1, 10, 20);
	end(&job);
}
END_TEST

/* More messages than there is room for at once. */
START_TEST(test_messages_are_written_over)
{
	struct job job = begin();

	for (int i = 0; i < 1000; i++)
		exchange_both(&job, gathered(&job, 0), gathered(&job, 1));
	assert_received(&job, 1, 10, 20);
	end(&job);
}
END_TEST

START_TEST(test_one_line_only_sends)
{
	struct job job = begin();
	struct exchange what = gathered(&job, 1);

	what.is_silent = true;
	what.root = 0;
	exchange_send(job.lines[0], (uintptr_t)job.sent[0], sizeof(int64_t));
	ck_assert(exchange(job.lines[1], &what));
	assert_received(&job, 1, 10, -1);
	end(&job);
}
END_TEST

/* Another process connects, and ends without sending anything. */
START_TEST(test_a_rank_whose_peer_is_gone_goes_on_alone)
{
	struct exchange what;
	struct job job = { .lines = { NULL } };
	pid_t child;

	simcuda_reset();
	job.sent[0] = on_device(10, 11);
	job.received[0] = on_device(-1, -1);
	what = gathered(&job, 0);
	job.lines[0] = line_open("gone", 2, 0);
	child = fork();
	if (!child)
		_exit(line_open("gone", 2, 1)->is_alone);
	waitpid(child, NULL, 0);
	ck_assert(exchange(job.lines[0], &what));
	ck_assert_uint_eq(exchange_deserted(), 0);
	assert_received(&job, 0, 10, 10);
	ck_assert_uint_eq(exchange_deserted(), 1);
	ck_assert(!exchange(job.lines[0], &what));
	line_close(job.lines[0]);
}
END_TEST

START_TEST(test_a_rank_that_has_no_name_is_alone)
{
	struct line *line = line_open(NULL, 2, 0);
	struct exchange what = { .sent = 8, .root = EXCHANGE_ALL };

	ck_assert(line->is_alone);
	ck_assert(!exchange(line, &what));
	line_close(line);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_both_get_both, 0 },
		{ test_a_part_of_what_is_reduced, 0 },
		{ test_memory_that_is_used_anew_gets_nothing, 0 },
		{ test_messages_are_written_over, 0 },
		{ test_one_line_only_sends, 0 },
		{ test_a_rank_whose_peer_is_gone_goes_on_alone, 0 },
		{ test_a_rank_that_has_no_name_is_alone, 0 },
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	setenv("SIMCUDA_RECORD", folder, 1);
	failed = suite_run("exchange", tests, COUNT_OF(tests));
	rmdir(folder);
	return failed;
}
