/* SPDX-License-Identifier: MIT */
/* A crew: the only file with threads. */
#include "study/sweep/crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

#define MOST_THREADS 1024

struct crew {
	const struct gp_crew_config *config;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t news;  /* done_count grew */
	size_t next;	      /* piece to begin */
	size_t *done;	      /* pieces, in the order they were done */
	size_t done_count;
	size_t at_work; /* threads */
};

static bool is_stopped(const struct gp_crew_config *config)
{
	return config->stop && atomic_load(config->stop);
}

/* ---- without threads ---- */

static size_t work_alone(const struct gp_crew_config *config)
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

/* The next piece, or count when there is none to begin. */
static size_t take_piece(struct crew *crew)
{
	const struct gp_crew_config *config = crew->config;

	if (crew->next < config->count && !is_stopped(config))
		return crew->next++;
	return config->count;
}

static void *work_along(void *arg)
{
	struct crew *crew = arg;
	const struct gp_crew_config *config = crew->config;
	size_t piece;

	pthread_mutex_lock(&crew->lock);
	while ((piece = take_piece(crew)) < config->count) {
		pthread_mutex_unlock(&crew->lock);
		config->work(config->arg, piece);
		pthread_mutex_lock(&crew->lock);
		crew->done[crew->done_count++] = piece;
		pthread_cond_signal(&crew->news);
	}
	crew->at_work--;
	pthread_cond_signal(&crew->news);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Tells the caller what is done until nobody works any more. */
static void watch(struct crew *crew)
{
	const struct gp_crew_config *config = crew->config;
	size_t told = 0;

	pthread_mutex_lock(&crew->lock);
	while (crew->at_work || told < crew->done_count) {
		if (told == crew->done_count) {
			pthread_cond_wait(&crew->news, &crew->lock);
			continue;
		}
		size_t piece = crew->done[told++];

		pthread_mutex_unlock(&crew->lock);
		if (config->done)
			config->done(config->arg, piece);
		pthread_mutex_lock(&crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
}

static size_t start_threads(struct crew *crew, pthread_t *threads, size_t count)
{
	size_t started = 0;

	pthread_mutex_lock(&crew->lock);
	while (started < count &&
	       !pthread_create(&threads[started], NULL, work_along, crew))
		started++;
	crew->at_work = started;
	pthread_mutex_unlock(&crew->lock);
	return started;
}

static size_t work_together(struct crew *crew, size_t count)
{
	pthread_t *threads = gp_mem_alloc(count, sizeof(*threads));
	size_t started = start_threads(crew, threads, count);

	if (started)
		watch(crew);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return started ? crew->done_count : work_alone(crew->config);
}

size_t gp_crew_run(const struct gp_crew_config *config)
{
	struct crew crew = {
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
	crew.done = gp_mem_alloc(config->count, sizeof(*crew.done));
	done = work_together(&crew, threads);
	free(crew.done);
	pthread_cond_destroy(&crew.news);
	pthread_mutex_destroy(&crew.lock);
	return done;
}
