/* SPDX-License-Identifier: MIT */
/*
 * The process of a library: passes the engine's requests to the library's
 * functions, and their device calls back to the engine.
 */
#include "allocator/plugin/plugin_process.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include "allocator/channel.h"
#include "allocator/plugin/host.h"
#include "allocator/plugin/plugin_wire.h"
#include "base/mem.h"
#include "gpupool/engine.h"

/* Most bytes of a file, such as stdout. */
#define MOST_WRITTEN (UINT64_C(256) << 20)

struct server;

/* An allocator created by the library; memory.device points to this. */
struct heap {
	struct server *server;
	struct gp_memory memory;
	void *self;
	uint32_t index;
};

struct server {
	const struct gp_engine_table *table;
	struct heap **heaps;
	size_t count, room;
	bool is_host;
	bool is_lost; /* the engine has closed the socket */
};

static void send_all(struct server *s, const void *data, size_t size)
{
	const char *at = data;

	while (size && !s->is_lost) {
		ssize_t n = write(CHANNEL_FD, at, size);

		s->is_lost = n <= 0;
		at += n;
		size -= (size_t)n;
	}
}

static bool receive_all(struct server *s, void *data, size_t size)
{
	char *at = data;

	while (size && !s->is_lost) {
		ssize_t n = read(CHANNEL_FD, at, size);

		s->is_lost = n <= 0;
		at += n;
		size -= (size_t)n;
	}
	return !s->is_lost;
}

/* ---- the device at the other end ---- */

static struct plugin_reply question(void *device, enum plugin_question what,
				    uint64_t addr, uint64_t size)
{
	const struct heap *heap = device;
	const struct plugin_message m = { .kind = PLUGIN_DEVICE,
					  .what = what,
					  .heap = heap->index,
					  .addr = addr,
					  .size = size };
	struct plugin_reply reply = { 0 };

	send_all(heap->server, &m, sizeof(m));
	receive_all(heap->server, &reply, sizeof(reply));
	return reply;
}

static bool far_malloc(void *device, uint64_t size, uint64_t *addr)
{
	struct plugin_reply reply = question(device, PLUGIN_MALLOC, 0, size);

	*addr = reply.a;
	return reply.is_done;
}

static void far_free(void *device, uint64_t addr)
{
	question(device, PLUGIN_DEVICE_FREE, addr, 0);
}

static bool far_reserve(void *device, uint64_t size, uint64_t *addr)
{
	struct plugin_reply reply = question(device, PLUGIN_RESERVE, 0, size);

	*addr = reply.a;
	return reply.is_done;
}

static bool far_map(void *device, uint64_t addr, uint64_t size)
{
	return question(device, PLUGIN_MAP, addr, size).is_done;
}

static void far_unmap(void *device, uint64_t addr, uint64_t size)
{
	question(device, PLUGIN_UNMAP, addr, size);
}

static void far_info(void *device, uint64_t *free_bytes, uint64_t *total_bytes)
{
	struct plugin_reply reply = question(device, PLUGIN_INFO, 0, 0);

	*free_bytes = reply.a;
	*total_bytes = reply.b;
}

/* ---- requests ---- */

static void look_for_host(struct server *s, const char *name,
			  struct plugin_message *m)
{
	s->table = &host_table;
	s->is_host = host_begin(name);
	if (!s->is_host)
		m->what = PLUGIN_NO_HOST;
}

/* The processor architecture of a library or a program; 0: it is neither. */
static unsigned machine_of(const char *path)
{
	FILE *file = fopen(path, "rb");
	Elf64_Ehdr head = { 0 };

	if (file && fread(&head, sizeof(head), 1, file) != 1)
		head.e_machine = 0;
	if (file)
		fclose(file);
	return memcmp(head.e_ident, ELFMAG, SELFMAG) ? 0 : head.e_machine;
}

/* For a library of another architecture, dlerror() only says that it does not
 * exist. */
static void say_not_loaded(const char *library, struct plugin_message *m)
{
	unsigned theirs = machine_of(library);
	unsigned ours = machine_of("/proc/self/exe");

	m->what = PLUGIN_NOT_LOADED;
	if (theirs && ours && theirs != ours)
		snprintf(m->text, sizeof(m->text),
			 "it is for another processor: ELF machine %u, and "
			 "this is %u",
			 theirs, ours);
	else
		snprintf(m->text, sizeof(m->text), "%s", dlerror());
}

static void look_for_table(struct server *s, const char *library,
			   struct plugin_message *m)
{
	const struct gp_engine_table *(*show)(void);
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	void *symbol = handle ? dlsym(handle, GP_ENGINE_SYMBOL) : NULL;

	if (!handle) {
		say_not_loaded(library, m);
		return;
	}
	if (!symbol) {
		m->what = PLUGIN_NO_SYMBOL;
		return;
	}
	memcpy(&show, &symbol, sizeof(show));
	s->table = show();
	if (!s->table) {
		m->what = PLUGIN_NO_TABLE;
	} else if (s->table->version != GP_ENGINE_VERSION) {
		m->what = PLUGIN_OTHER_VERSION;
		m->size = s->table->version;
	} else if (!s->table->alloc || !s->table->free) {
		m->what = PLUGIN_NO_CALLS;
	}
}

static void hello(struct server *s, const char *library,
		  struct plugin_message *m)
{
	const struct gp_engine_table *t;

	if (host_is_named(library))
		look_for_host(s, library, m);
	else
		look_for_table(s, library, m);
	if (m->what != PLUGIN_WELCOME)
		return;
	t = s->table;
	m->calls = (t->is_shared ? PLUGIN_IS_SHARED : 0U) |
		   (t->create ? PLUGIN_HAS_CREATE : 0U) |
		   (t->destroy ? PLUGIN_HAS_DESTROY : 0U) |
		   (t->trim ? PLUGIN_HAS_TRIM : 0U) |
		   (t->mark ? PLUGIN_HAS_MARK : 0U) |
		   (t->largest_free ? PLUGIN_HAS_LARGEST_FREE : 0U);
	snprintf(m->text, sizeof(m->text), "%s%s%s",
		 t->name ? t->name : "an engine", t->sentence ? ": " : "",
		 t->sentence ? t->sentence : "");
}

static void create(struct server *s, struct plugin_message *m)
{
	struct heap *heap = gp_mem_alloc(1, sizeof(*heap));

	heap->server = s;
	heap->index = (uint32_t)s->count;
	heap->memory = (struct gp_memory){
		heap,	 far_malloc, far_free, far_reserve,
		far_map, far_unmap,  far_info,
	};
	GP_GROW(s->heaps, s->count + 1, s->room);
	s->heaps[s->count++] = heap;
	heap->self = s->table->create ? s->table->create(&heap->memory)
				      : &heap->memory;
	m->is_done = heap->self != NULL;
}

static void alloc(struct server *s, const struct plugin_request *r, void *self,
		  struct plugin_message *m)
{
	const struct gp_ask ask = {
		.size = r->size,
		.id = r->id,
		.stream = r->stream,
		.pool = { r->pool[0], r->pool[1] },
	};
	struct gp_piece piece = { 0 };

	m->is_done = s->table->alloc(self, &ask, &piece);
	m->addr = piece.addr;
	m->size = piece.size;
	m->handle = piece.handle;
}

/* The engine only calls functions that the library has. */
static void serve_heap(struct server *s, const struct plugin_request *r,
		       struct plugin_message *m)
{
	const struct gp_piece piece = { r->addr, r->size, r->handle };
	void *self = s->heaps[r->heap]->self;

	switch (r->op) {
	case PLUGIN_DESTROY: s->table->destroy(self); break;
	case PLUGIN_ALLOC: alloc(s, r, self, m); break;
	case PLUGIN_FREE: s->table->free(self, &piece); break;
	case PLUGIN_TRIM: s->table->trim(self); break;
	case PLUGIN_MARK: s->table->mark(self, r->text); break;
	case PLUGIN_LARGEST_FREE: m->size = s->table->largest_free(self); break;
	default: break;
	}
}

/* Restarts the process without address randomisation, if the system permits it,
 * so that the addresses of a host allocator are the same in every run. */
static void disable_aslr(const char *library)
{
	char name[] = PLUGIN_PROCESS;
	char *const arguments[] = { name, (char *)library, NULL };
	int now = personality(0xffffffff);

	if (now < 0 || now & ADDR_NO_RANDOMIZE ||
	    personality((unsigned)now | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", arguments);
}

/* Child processes of a library must not use the channel. */
static void leave_channel(void)
{
	close(CHANNEL_FD);
}

/* Limits its output, which is kept in memory, disables core dumps, and makes it
 * the first process to be killed when the machine is out of memory. */
static void limit_resources(void)
{
	const struct rlimit no_core = { 0, 0 };
	const struct rlimit files = { MOST_WRITTEN, MOST_WRITTEN };
	FILE *score = fopen("/proc/self/oom_score_adj", "w");

	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_FSIZE, &files);
	if (score) {
		fputs("1000", score);
		fclose(score);
	}
}

int plugin_process(const char *library)
{
	struct plugin_request request;
	struct server s = { 0 };

	limit_resources();
	if (host_is_named(library))
		disable_aslr(library);
	pthread_atfork(NULL, NULL, leave_channel);
	while (receive_all(&s, &request, sizeof(request))) {
		struct plugin_message answer = { .kind = PLUGIN_ANSWER };

		if (request.op == PLUGIN_HELLO)
			hello(&s, library, &answer);
		else if (request.op == PLUGIN_CREATE)
			create(&s, &answer);
		else
			serve_heap(&s, &request, &answer);
		if (s.is_host)
			answer.held = host_held() + 1;
		send_all(&s, &answer, sizeof(answer));
	}
	/* Skips the library's destructors, which nothing depends on. */
	quick_exit(EXIT_SUCCESS);
}
