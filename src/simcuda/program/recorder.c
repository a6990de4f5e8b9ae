/* SPDX-License-Identifier: MIT */
/*
 * The recorder: what PyTorch's allocator did, as a gpupool-trace in JSON Lines,
 * one file per process. This is its beginning and end.
 */
#include "simcuda/program/recorder.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/exchange.h"
#include "simcuda/program/guesses.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/journal.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/peers.h"
#include "simcuda/program/plans.h"
#include "simcuda/program/stand_in.h"

static struct {
	pid_t process;		     /* whose journal it is */
	const struct layout *layout; /* NULL: nothing is recorded here */
	char path[4096];
	pthread_mutex_t lock;
	bool is_open;
	atomic_bool has_uncached;
	char file[64]; /* its name, without ".jsonl" */
} recorder = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local bool holds_lock;

/* ---- for the other files ---- */

bool recorder_enter(void)
{
	pthread_mutex_lock(&recorder.lock);
	holds_lock = recorder.is_open;
	if (holds_lock)
		return true;
	pthread_mutex_unlock(&recorder.lock);
	return false;
}

void recorder_leave(void)
{
	holds_lock = false;
	pthread_mutex_unlock(&recorder.lock);
}

bool recorder_begin(const char *op, int device)
{
	if (device < 0 || device >= SIMCUDA_MOST_DEVICES || !recorder_enter())
		return false;
	entries_begin(op, device);
	return true;
}

void recorder_end(void)
{
	entries_put("}\n");
	recorder_leave();
}

void recorder_put_text(const char *text)
{
	journal_put("\"", 1);
	journal_put_escaped(text);
	journal_put("\"", 1);
}

void recorder_put_pool(const uint64_t pool[2])
{
	entries_put(",\"pool\":[%" PRIu64 ",%" PRIu64 "]", pool[0], pool[1]);
}

/* ---- the beginning ---- */

static uint64_t memory_of(int device)
{
	uint64_t free_bytes, total;
	struct gp_device *memory;

	process_lock();
	memory = process_memory(device);
	memory->ops->info(memory, &free_bytes, &total);
	process_unlock();
	return total;
}

const char *recorder_settings(void)
{
	const char *names[] = { "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF",
				"PYTORCH_HIP_ALLOC_CONF" };

	if (!recorder.layout)
		return "";
	for (size_t i = recorder.layout->release < 9; i < 2; i++)
		if (getenv(names[i]))
			return getenv(names[i]);
	return "";
}

const char *recorder_bypass(void)
{
	static const char async[] = "backend:cudaMallocAsync";
	static const char no_caching[] = "PYTORCH_NO_CUDA_MEMORY_CACHING";

	if (strstr(recorder_settings(), async))
		return async;
	return getenv(no_caching) ? no_caching : NULL;
}

static void put_header(void)
{
	entries_put("{\"format\":\"gpupool-trace\",\"version\":1,\"source\":{"
		    "\"kind\":"
		    "\"gpupool-record\",\"torch\":\"2.%u\",\"complete\":true},"
		    "\"settings\":",
		    recorder.layout->release);
	recorder_put_text(recorder_settings());
	entries_put(",\"frees\":\"at_once\",\"devices\":[");
	for (int i = 0; i < process.device_count; i++) {
		entries_put("%s{\"device\":%d", i ? "," : "", i);
		if (!process.is_boundless)
			entries_put(",\"total_memory\":%" PRIu64, memory_of(i));
		entries_put("}");
	}
	entries_put("]}\n");
}

/* A process that executes another program (exec) keeps its id: its next file
 * gets a number that is no process id (commands/recorded.c). */
#define NEXT_PROGRAM  (1L << 22)
#define MOST_PROGRAMS 64

/* Process ids are reused. The start time, in the kernel's ticks, is field 22 of
 * the process's stat, field 20 after the name. */
static unsigned long long beginning(void)
{
	unsigned long long ticks = 0;
	char line[1024] = "";
	FILE *file = fopen("/proc/self/stat", "re");
	const char *at = file && fgets(line, sizeof(line), file)
				 ? strrchr(line, ')')
				 : NULL;

	if (file)
		fclose(file);
	for (int field = 0; at && field < 20; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	return ticks;
}

/* Reports to gpupool that the journal could not be written, by creating a file,
 * which needs no space on a full disk. */
static void tell_unwritable(void)
{
	char path[sizeof(recorder.path) + 16];
	int file;

	snprintf(path, sizeof(path), "%s/why.not", recorder.path);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (file >= 0)
		close(file);
}

static void open_journal(void)
{
	char path[sizeof(recorder.path) + sizeof(recorder.file) + 8];

	for (long i = 0; i < MOST_PROGRAMS && !recorder.is_open; i++) {
		snprintf(recorder.file, sizeof(recorder.file), "%llu-%ld",
			 beginning(), (long)getpid() + i * NEXT_PROGRAM);
		snprintf(path, sizeof(path), "%s/%s.jsonl", recorder.path,
			 recorder.file);
		recorder.is_open = journal_open(path);
		if (!recorder.is_open && access(path, F_OK)) {
			tell_unwritable();
			break;
		}
	}
	recorder.process = getpid();
	if (recorder.is_open)
		put_header();
}

/* ---- the end ---- */

static void write_called(void)
{
	static const char *const kinds[] = {
		[STAND_IN_SIZE] = "size",
		[STAND_IN_MEASURED] = "measured",
		[STAND_IN_ANSWER] = "answer",
	};
	enum stand_in_kind kind;
	char path[sizeof(recorder.path) + sizeof(recorder.file) + 8];
	const char *name;
	uint64_t calls;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.calls", recorder.path,
		 recorder.file);
	file = fopen(path, "w");
	if (!file)
		return;
	for (uint32_t i = 0; (name = stand_in_called(i, &kind, &calls)); i++)
		fprintf(file, "%" PRIu64 " %s %s\n", calls, kinds[kind], name);
	for (size_t i = 0; (name = simcuda_unknown(i, &calls)); i++)
		if (calls && !stand_in_does_nothing(name))
			fprintf(file, "%" PRIu64 " refused %s\n", calls, name);
	if (plans_version())
		fprintf(file, "%" PRIu64 " plans %u %s\n", plans_given(),
			plans_version(), plans_why_not());
	else if (*plans_why_not())
		fprintf(file, "0 plans 0 %s\n", plans_why_not());
	if (process.context_bytes && simcuda_calls("cudaMemGetInfo"))
		fprintf(file, "%" PRIu64 " context %" PRIu64 "\n",
			simcuda_calls("cudaMemGetInfo"), process.context_bytes);
	if (process.most_wanted)
		fprintf(file, "%d device %d\n", process.device_count,
			process.most_wanted);
	if (exchange_deserted())
		fprintf(file, "%" PRIu64 " deserted communicators\n",
			exchange_deserted());
	fclose(file);
}

/* The names by which users know these workspaces. */
static const char *words_of(const char *call)
{
	if (!strcmp(call, "cudnnBackendGetAttribute"))
		return "those of cuDNN's convolutions and attention (cuDNN 9.8 "
		       "and later can be asked for them: --cudnn)";
	return call;
}

/* Workspaces counted as 0. Returns how many calls asked for them. */
static unsigned say_unknown(void)
{
	enum stand_in_kind kind;
	const char *name;
	uint64_t calls;
	unsigned named = 0;

	for (uint32_t i = 0; (name = stand_in_called(i, &kind, &calls)); i++)
		if (kind == STAND_IN_SIZE)
			entries_put(
				"%s%s",
				named++ ? ", "
					: "workspaces whose sizes only CUDA's "
					  "libraries know, counted as 0: ",
				words_of(name));
	return named;
}

/* Workspaces that were measured on another device. */
static void say_measured(bool has_others)
{
	static const struct {
		const char *prefix, *words;
	} families[] = {
		{ "cudnn", "recurrent networks" },
		{ "cusolver", "linear algebra" },
		{ "cufft", "Fourier transforms" },
	};
	const char *named[sizeof(families) / sizeof(*families)], *name;
	enum stand_in_kind kind;
	size_t count = 0;
	uint64_t calls;

	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		size_t length = strlen(families[f].prefix);
		bool is_named = false;

		for (uint32_t i = 0; (name = stand_in_called(i, &kind, &calls));
		     i++)
			is_named |= kind == STAND_IN_MEASURED &&
				    !strncmp(name, families[f].prefix, length);
		if (is_named)
			named[count++] = families[f].words;
	}
	for (size_t i = 0; i < count; i++)
		entries_put("%s%s",
			    i		 ? (i + 1 < count ? ", " : " and ")
			    : has_others ? "; and workspaces of "
					 : "workspaces of ",
			    named[i]);
	if (count)
		entries_put(", counted as measured on a Hopper GPU");
}

/* The last such line in the journal is the valid one; a program that is killed
 * writes none at exit. */
static void say_sizes(void)
{
	enum stand_in_kind kind;
	uint64_t calls;
	bool has_size = false;

	for (uint32_t i = 0; stand_in_called(i, &kind, &calls); i++)
		has_size |= kind != STAND_IN_ANSWER;
	if ((!has_size && !recorder.has_uncached) || !recorder_enter())
		return;
	entries_put("{\"not_told\":\"");
	if (recorder.has_uncached)
		entries_put("requests with PyTorch's cache disabled, counted "
			    "as 0%s",
			    has_size ? "; and " : "");
	say_measured(say_unknown() > 0);
	entries_put("\"}\n");
	recorder_leave();
}

void recorder_note_uncached(void)
{
	if (!atomic_exchange(&recorder.has_uncached, true))
		say_sizes();
}

static void finish(void)
{
	guesses_end();
	say_sizes();
	if (!recorder_enter())
		return;
	for (int i = 0; i < process.device_count; i++)
		entries_settle(i);
	owners_settle();
	recorder.is_open = false;
	journal_close();
	write_called();
	recorder_leave();
}

/* Exit handlers run in reverse order: this one runs while PyTorch's allocator,
 * which was created before, still exists. */
static void finish_at_exit(void)
{
	hooks_write_counters();
	finish();
}

static volatile sig_atomic_t exit_status;

static void exit_now(int signal)
{
	(void)signal;
	syscall(SYS_exit_group, exit_status);
}

/* The handler of a signal may have interrupted what holds a lock. */
#define EXIT_PATIENCE_S 10

static void exit_in_time(void)
{
	const struct sigaction now = { .sa_handler = exit_now };
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigaction(SIGALRM, &now, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(EXIT_PATIENCE_S);
}

/* Exported as _exit (Makefile), as os._exit skips exit handlers. Children of
 * vfork, which share this process's memory, and children of fork call it too.
 * What is not finished is as after a crash. */
void simcuda_exit(int status);
void simcuda_exit(int status)
{
	exit_status = status;
	if (recorder.is_open && recorder.process == getpid() && !holds_lock) {
		exit_in_time();
		finish_at_exit();
	}
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

void recorder_start(void)
{
	bool is_new;

	pthread_mutex_lock(&recorder.lock);
	is_new = recorder.layout && !recorder.is_open;
	if (is_new)
		open_journal();
	pthread_mutex_unlock(&recorder.lock);
	if (is_new) {
		stand_in_watch(say_sizes);
		atexit(finish_at_exit);
	}
}

/* ---- the process ---- */

/* Called before the first use of a device, and so before the allocator is
 * initialised. */
static void find_allocator(void)
{
	if (!recorder.layout)
		return;
	peers_announce();
	hooks_set(recorder.layout);
}

/* So that no lock is held in the child by a thread that does not exist there.
 */
static void before_fork(void)
{
	pthread_mutex_lock(&recorder.lock);
	process_lock();
}

static void after_fork(void)
{
	process_unlock();
	pthread_mutex_unlock(&recorder.lock);
}

/* A child shares its parent's mapped file and must not write to it. A child
 * forked before the device is used has a trace of its own. */
static void after_fork_in_child(void)
{
	if (recorder.is_open)
		recorder.layout = NULL;
	recorder.is_open = false;
	after_fork();
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SIMCUDA_RECORD");
	const char *release = getenv("SIMCUDA_TORCH"); /* "15" of 2.15 */

	if (!path || !release || strlen(path) >= sizeof(recorder.path))
		return;
	memcpy(recorder.path, path, strlen(path) + 1);
	recorder.layout = layout_of((unsigned)strtoul(release, NULL, 10));
	if (getenv("SIMCUDA_TIMES"))
		entries_with_times();
	draws_choose(getenv("SIMCUDA_VALUES"), getenv("RANK"));
	interpreter_wish(&(struct interpreter_wishes){
		.release = (unsigned)strtoul(release, NULL, 10),
		.has_script = getenv("SIMCUDA_MARKS"),
		.steps = getenv("SIMCUDA_STEPS"),
		.has_stacks = getenv("SIMCUDA_STACKS"),
		.has_values = draws_policy()->follows,
		.has_owners = !getenv("SIMCUDA_OWNERS"),
		.scalar = getenv("SIMCUDA_SCALAR"),
	});
	process_hooks.count = find_allocator;
	guesses_watch(getenv("SIMCUDA_QUIET"));
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Nothing was recorded, for a reason that the program gave. */
static void write_why_not(void)
{
	const char *why =
		recorder.layout && !*recorder.file ? hooks_why_not() : NULL;
	char path[sizeof(recorder.path) + 8];
	FILE *file;

	snprintf(path, sizeof(path), "%s/why.not", recorder.path);
	file = why ? fopen(path, "w") : NULL;
	if (!file)
		return;
	fputs(why, file);
	fclose(file);
}

__attribute__((destructor)) static void end(void)
{
	write_why_not();
	finish();
}
