/* SPDX-License-Identifier: MIT */
/* A thread pool: the only file that creates threads. */
#include "study/sweep/thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

#define MOST_THREADS 1024

struct thread_pool {
	const struct gp_thread_pool_config *config;
	pthread_mutex_t lock; /* protects all members below */
	pthread_cond_t news;  /* done_count grew */
	size_t next;	      /* next piece to start */
	size_t *done;	      /* completed pieces, in order of completion */
	size_t done_count;
	size_t at_work; /* running threads */
};

static bool is_stopped(const struct gp_thread_pool_config *config)
{
	return config->stop && atomic_load(config->stop);
}

/* ---- without threads ---- */

static size_t work_alone(const struct gp_thread_pool_config *config)
{
	size_t piece = 0;

	for (; piece < config->count && !is_stopped(config); piece++) {
		config->work(config->arg, piece);
		if (config->done)
			config->done(config->arg, piece);
	}
	return piece;
}

/* ---- with threads ---- */

/* The next piece to start, or count if there is none. */
static size_t take_piece(struct thread_pool *pool)
{
	const struct gp_thread_pool_config *config = pool->config;

	if (pool->next < config->count && !is_stopped(config))
		return pool->next++;
	return config->count;
}

static void *work_along(void *arg)
{
	struct thread_pool *pool = arg;
	const struct gp_thread_pool_config *config = pool->config;
	size_t piece;

	pthread_mutex_lock(&pool->lock);
	while ((piece = take_piece(pool)) < config->count) {
		pthread_mutex_unlock(&pool->lock);
		config->work(config->arg, piece);
		pthread_mutex_lock(&pool->lock);
		pool->done[pool->done_count++] = piece;
		pthread_cond_signal(&pool->news);
	}
	pool->at_work--;
	pthread_cond_signal(&pool->news);
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Reports completed pieces to the caller until no thread is running. */
static void watch(struct thread_pool *pool)
{
	const struct gp_thread_pool_config *config = pool->config;
	size_t reported = 0;

	pthread_mutex_lock(&pool->lock);
	while (pool->at_work || reported < pool->done_count) {
		if (reported == pool->done_count) {
			pthread_cond_wait(&pool->news, &pool->lock);
			continue;
		}
		size_t piece = pool->done[reported++];

		pthread_mutex_unlock(&pool->lock);
		if (config->done)
			config->done(config->arg, piece);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
}

static size_t start_threads(struct thread_pool *pool, pthread_t *threads,
			    size_t count)
{
	size_t started = 0;

	pthread_mutex_lock(&pool->lock);
	while (started < count &&
	       !pthread_create(&threads[started], NULL, work_along, pool))
		started++;
	pool->at_work = started;
	pthread_mutex_unlock(&pool->lock);
	return started;
}

static size_t work_together(struct thread_pool *pool, size_t count)
{
	pthread_t *threads = gp_mem_alloc(count, sizeof(*threads));
	size_t started = start_threads(pool, threads, count);

	if (started)
		watch(pool);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return started ? pool->done_count : work_alone(pool->config);
}

size_t gp_thread_pool_run(const struct gp_thread_pool_config *config)
{
	struct thread_pool pool = {
		.config = config,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.news = PTHREAD_COND_INITIALIZER,
	};
	size_t threads = config->threads < config->count ? config->threads
							 : config->count;
	size_t done;

	if (threads > MOST_THREADS)
		threads = MOST_THREADS;
	if (threads < 2)
		return work_alone(config);
	pool.done = gp_mem_alloc(config->count, sizeof(*pool.done));
	done = work_together(&pool, threads);
	free(pool.done);
	pthread_cond_destroy(&pool.news);
	pthread_mutex_destroy(&pool.lock);
	return done;
}
