/* SPDX-License-Identifier: MIT */
#include "simcuda/program/watchdog.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/exchange.h"
#include "simcuda/program/torch.h"

/* PyTorch's name for the thread, from 2.5 on. Before 2.8 its list of
 * collectives holds no memory. */
#define THREAD_NAME "pt_nccl_watchdg"

#define MOST_WATCHDOGS	 64
/* In seconds: a look takes microseconds, but other ranks take as long as their
 * steps. */
#define LOOK_PATIENCE_S	 5
#define RANKS_PATIENCE_S 20
/* After this many failures no more are attempted. */
#define MOST_MISSED	 3
/* Checks of threads that have just begun, and the time between two: a second in
 * all. */
#define MOST_BEGINNINGS	 5000
#define BEGINNING_NS	 200000

struct watchdog {
	bool is_there;
	long thread;	 /* the system's thread id */
	uint64_t seen;	 /* the last look requested of it */
	uint64_t looked; /* the last look that it finished */
	/* What is awaited by collectives that were not complete at its look and
	 * that the program has not waited for. */
	struct awaited loose;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, looked;
	struct watchdog all[MOST_WATCHDOGS];
	_Atomic unsigned count;
	uint64_t looks;
	_Atomic uint64_t missed; /* under the lock below; read without it */
	/* If several threads issue collectives, one looks at a time. */
	pthread_mutex_t one;
} watchdogs = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.asked = PTHREAD_COND_INITIALIZER,
	.looked = PTHREAD_COND_INITIALIZER,
	.one = PTHREAD_MUTEX_INITIALIZER,
};

static _Thread_local struct watchdog *mine;

/* Takes the later of both numbers, which covers what the other waits for. */
static void join(struct awaited *all, const struct awaited *more)
{
	all->places |= more->places;
	if (all->issued < more->issued)
		all->issued = more->issued;
}

/* ---- the C library's own functions ---- */

typedef void (*function)(void);

/* Direct calls would be intercepted too. glibc has two versions of some
 * functions, of which the first is different; musl has one of each. */
static function find(const char *name, const char *version)
{
	void *at = NULL;
	function found = NULL;

#ifdef __GLIBC__
	at = dlvsym(RTLD_NEXT, name, version);
#else
	(void)version;
#endif
	if (!at)
		at = dlsym(RTLD_NEXT, name);
	memcpy(&found, &at, sizeof(found));
	return found;
}

#define REAL(name, version, type, ...)                                         \
	((type(*)(__VA_ARGS__))real(&name##_found, #name, version))

static function real(_Atomic(function) *found, const char *name,
		     const char *version)
{
	if (!*found)
		*found = find(name, version);
	return *found;
}

static _Atomic(function) clock_gettime_found, pthread_cond_timedwait_found,
	pthread_cond_clockwait_found;

static int get_time(clockid_t clock, struct timespec *time)
{
	return REAL(clock_gettime, "GLIBC_2.17", int, clockid_t,
		    struct timespec *)(clock, time);
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *lock,
		   clockid_t clock, const struct timespec *until)
{
	if (clock == CLOCK_REALTIME)
		return REAL(pthread_cond_timedwait, "GLIBC_2.3.2", int,
			    pthread_cond_t *, pthread_mutex_t *,
			    const struct timespec *)(condition, lock, until);
	return REAL(pthread_cond_clockwait, "GLIBC_2.30", int, pthread_cond_t *,
		    pthread_mutex_t *, clockid_t,
		    const struct timespec *)(condition, lock, clock, until);
}

/* ---- clocks ---- */

/*
 * A watchdog sleeps until a C++ clock says that 100 ms have passed, however
 * often it is woken. So after it was woken for a look, its first reading of
 * each clock is ahead; further readings are correct.
 */
static _Thread_local struct timespec ahead[2];

static struct timespec later(struct timespec time, struct timespec by)
{
	time.tv_sec += by.tv_sec;
	time.tv_nsec += by.tv_nsec;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int status = get_time(clock, time);

	if (!mine || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return status;
	*time = later(*time, ahead[clock == CLOCK_MONOTONIC]);
	ahead[clock == CLOCK_MONOTONIC] = (struct timespec){ 0 };
	return status;
}

/* ---- the watchdog's side ---- */

static pthread_key_t leaving;

static void leave(void *watchdog)
{
	pthread_mutex_lock(&watchdogs.lock);
	((struct watchdog *)watchdog)->is_there = false;
	atomic_fetch_sub(&watchdogs.count, 1);
	pthread_cond_broadcast(&watchdogs.looked);
	pthread_mutex_unlock(&watchdogs.lock);
}

/* Called with the lock held. */
static void enter(void)
{
	for (size_t i = 0; i < MOST_WATCHDOGS && !mine; i++)
		if (!watchdogs.all[i].is_there)
			mine = &watchdogs.all[i];
	if (!mine)
		return;
	*mine = (struct watchdog){ .is_there = true,
				   .thread = syscall(SYS_gettid),
				   .seen = watchdogs.looks };
	atomic_fetch_add(&watchdogs.count, 1);
	pthread_setspecific(leaving, mine);
}

/* What the thread does between two sleeps is a look. */
static int sleep_until(clockid_t clock, const struct timespec *until)
{
	int status = 0;

	pthread_mutex_lock(&watchdogs.lock);
	if (!mine)
		enter();
	if (mine) {
		mine->looked = mine->seen;
		pthread_cond_broadcast(&watchdogs.looked);
	}
	while (!status && (!mine || mine->seen == watchdogs.looks))
		status = wait_on(&watchdogs.asked, &watchdogs.lock, clock,
				 until);
	if (mine) {
		mine->seen = watchdogs.looks;
		mine->loose = (struct awaited){ 0 };
	}
	pthread_mutex_unlock(&watchdogs.lock);
	for (size_t i = 0; !status && i < 2; i++)
		ahead[i] = (struct timespec){ .tv_nsec = 200000000 };
	return status;
}

static bool is_watchdog(void)
{
	static _Thread_local enum { UNKNOWN, IS_ONE, IS_NONE } kind;
	char name[16] = "";

	if (kind == UNKNOWN) {
		pthread_getname_np(pthread_self(), name, sizeof(name));
		kind = strcmp(name, THREAD_NAME) ? IS_NONE : IS_ONE;
	}
	return kind == IS_ONE;
}

/* The thread is no longer woken by its own condition variable, which only tells
 * it to end: it notices that after 100 ms. */
static int sleep_instead(pthread_mutex_t *lock, clockid_t clock,
			 const struct timespec *until)
{
	int status;

	pthread_mutex_unlock(lock);
	status = sleep_until(clock, until);
	pthread_mutex_lock(lock);
	return status;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
			   const struct timespec *until)
{
	return is_watchdog() ? sleep_instead(lock, CLOCK_REALTIME, until)
			     : wait_on(condition, lock, CLOCK_REALTIME, until);
}

/* Declared by the C library from 2.30 on. */
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *lock,
			   clockid_t clock, const struct timespec *until);
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *lock,
			   clockid_t clock, const struct timespec *until)
{
	return is_watchdog() ? sleep_instead(lock, clock, until)
			     : wait_on(condition, lock, clock, until);
}

/* A collective that the watchdog queried waits for other ranks. Several
 * receives may be under way before the program waits for any, and the program
 * still holds their memory: these are not waited for. */
static void on_unfinished(const struct awaited *awaited)
{
	if (mine && !exchange_is_receive(awaited))
		join(&mine->loose, awaited);
}

__attribute__((constructor)) static void start(void)
{
	pthread_key_create(&leaving, leave);
	process_hooks.unfinished = on_unfinished;
}

/* ---- process groups that check their work themselves: c10d::nccl2 of 2.15
 * ---- */

#define CHECK_WORK "_ZN4c10d5nccl216ProcessGroupNCCL14checkWorkQueueEv"

static void (*torchs_check_work)(void *group);

static void find_torchs(void)
{
	*(void **)&torchs_check_work = torch_symbol("torch_cuda", CHECK_WORK);
}

/* PyTorch calls this function by its symbol, which is found here first. */
void check_work(void *group) __asm__(CHECK_WORK);
void check_work(void *group)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_torchs);
	if (!torchs_check_work)
		return;
	process_ignore_others(true);
	torchs_check_work(group);
	process_ignore_others(false);
}

/* ---- watchdogs that have not begun ---- */

/*
 * A group's first collective may be issued before its watchdog has run at all,
 * and so before the thread can be recognized by its name. It sets its name
 * first thing. So if there are new threads, this waits until each of them
 * sleeps or is a watchdog that looks.
 */

#define TASKS "/proc/self/task"

static bool is_looking(long thread)
{
	bool is = false;

	pthread_mutex_lock(&watchdogs.lock);
	for (size_t i = 0; i < MOST_WATCHDOGS; i++)
		is |= watchdogs.all[i].is_there &&
		      watchdogs.all[i].thread == thread;
	pthread_mutex_unlock(&watchdogs.lock);
	return is;
}

/* A thread that has ended counts as begun. */
static bool has_begun(long thread)
{
	char path[64], name[64] = "", state = 'S';
	FILE *file;
	int read;

	snprintf(path, sizeof(path), TASKS "/%ld/stat", thread);
	file = fopen(path, "re");
	if (!file)
		return true;
	read = fscanf(file, "%*d (%63[^)]) %c", name, &state);
	fclose(file);
	if (read == 2 && !strcmp(name, THREAD_NAME))
		return is_looking(thread);
	return state == 'S';
}

static bool have_all_begun(void)
{
	DIR *folder = opendir(TASKS);
	long own = syscall(SYS_gettid);
	const struct dirent *entry;
	bool have = true;

	while (have && folder && (entry = readdir(folder))) {
		long thread = strtol(entry->d_name, NULL, 10);

		have = thread <= 0 || thread == own || has_begun(thread);
	}
	if (folder)
		closedir(folder);
	return have;
}

/* Called with watchdogs.one held. If the number of threads has not changed,
 * they are the same ones; a thread that always runs is not waited for again. */
static void await_beginnings(void)
{
	static nlink_t before;
	static unsigned in_vain;
	const struct timespec pause = { .tv_nsec = BEGINNING_NS };
	struct stat tasks;
	int left = MOST_BEGINNINGS;

	if (in_vain == MOST_MISSED || stat(TASKS, &tasks) ||
	    tasks.st_nlink == before)
		return;
	before = tasks.st_nlink;
	while (left && !have_all_begun()) {
		nanosleep(&pause, NULL);
		left--;
	}
	in_vain += !left;
}

/* ---- the program's side ---- */

static bool have_looked(uint64_t look)
{
	for (size_t i = 0; i < MOST_WATCHDOGS; i++)
		if (watchdogs.all[i].is_there && watchdogs.all[i].looked < look)
			return false;
	return true;
}

static struct awaited loose_ends(void)
{
	struct awaited loose = { 0 };

	for (size_t i = 0; i < MOST_WATCHDOGS; i++)
		if (watchdogs.all[i].is_there)
			join(&loose, &watchdogs.all[i].loose);
	return loose;
}

/* false: one of them does not look. *loose: what was not complete at the look.
 */
static bool look(struct awaited *loose)
{
	struct timespec until;
	uint64_t number;
	bool is_done;
	int status = 0;

	get_time(CLOCK_REALTIME, &until);
	until.tv_sec += LOOK_PATIENCE_S;
	pthread_mutex_lock(&watchdogs.lock);
	number = ++watchdogs.looks;
	pthread_cond_broadcast(&watchdogs.asked);
	while (!(is_done = have_looked(number)) && !status)
		status = wait_on(&watchdogs.looked, &watchdogs.lock,
				 CLOCK_REALTIME, &until);
	*loose = loose_ends();
	pthread_mutex_unlock(&watchdogs.lock);
	return is_done;
}

void watchdog_look(void)
{
	struct awaited loose;
	bool is_in_time;

	pthread_mutex_lock(&watchdogs.one);
	await_beginnings();
	if (atomic_load(&watchdogs.count) &&
	    atomic_load(&watchdogs.missed) < MOST_MISSED) {
		is_in_time = look(&loose);
		if (is_in_time && loose.places)
			is_in_time = exchange_wait(&loose, RANKS_PATIENCE_S) &&
				     look(&loose);
		atomic_fetch_add(&watchdogs.missed, !is_in_time);
	}
	pthread_mutex_unlock(&watchdogs.one);
}

uint64_t watchdog_missed(void)
{
	return atomic_load(&watchdogs.missed);
}
