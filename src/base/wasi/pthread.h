/* SPDX-License-Identifier: MIT */
/* The parts of <pthread.h> that the program uses, for a single thread: locks
 * have no effect, and threads cannot be created. */
#ifndef WASM_POSIX_PTHREAD_H
#define WASM_POSIX_PTHREAD_H
#ifdef __wasi__

#include <errno.h>

typedef int pthread_t, pthread_mutex_t, pthread_cond_t, pthread_once_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0
#define PTHREAD_ONCE_INIT	  0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *how)
{
	(void)mutex, (void)how;
	return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	(void)mutex;
	return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *cond)
{
	(void)cond;
	return 0;
}

static inline int pthread_cond_wait(pthread_cond_t *cond,
				    pthread_mutex_t *mutex)
{
	(void)cond, (void)mutex;
	return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *cond)
{
	(void)cond;
	return 0;
}

static inline int pthread_create(pthread_t *thread, const void *how,
				 void *(*run)(void *arg), void *arg)
{
	(void)thread, (void)how, (void)run, (void)arg;
	return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
	(void)thread, (void)result;
	return EINVAL;
}

#endif
#endif
