/* SPDX-License-Identifier: MIT */
/*
 * An engine in a shared library (gpupool/engine.h): each call is a message to a
 * child process, whose answers are not trusted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/channel.h"
#include "allocator/engines.h"
#include "allocator/keeper.h"
#include "allocator/plugin/host.h"
#include "allocator/plugin/plugin_process.h"
#include "allocator/plugin/plugin_wire.h"
#include "base/mem.h"

#define PATIENCE_S 10	  /* for one message */
#define QUESTIONS  200000 /* most device calls during one call */

struct plugin {
	struct keeper keeper; /* must be first */
	struct channel channel;
	struct gp_engine_table table;
	bool is_beyond; /* it holds more than the device has, or may hold */
};

/* The result of engine_open_library(). */
struct opened {
	struct gp_engine engine;
	char *library, *program, *const *environment;
	char sentence[PLUGIN_TEXT];
};

/* ---- messages ---- */

static struct plugin_reply ask_device(struct plugin *p,
				      const struct plugin_message *m)
{
	struct plugin_reply reply = { .is_done = true };
	const struct gp_memory *memory;

	if (m->heap >= p->keeper.heap_count)
		return (struct plugin_reply){ 0 };
	memory = &p->keeper.heaps[m->heap]->memory;
	switch (m->what) {
	case PLUGIN_MALLOC:
		reply.is_done =
			memory->malloc(memory->device, m->size, &reply.a);
		break;
	case PLUGIN_DEVICE_FREE: memory->free(memory->device, m->addr); break;
	case PLUGIN_RESERVE:
		reply.is_done =
			memory->reserve(memory->device, m->size, &reply.a);
		break;
	case PLUGIN_MAP:
		reply.is_done = memory->map(memory->device, m->addr, m->size);
		break;
	case PLUGIN_UNMAP:
		memory->unmap(memory->device, m->addr, m->size);
		break;
	case PLUGIN_INFO:
		memory->info(memory->device, &reply.a, &reply.b);
		break;
	default: break;
	}
	return reply;
}

/* Makes one call; false if there is no answer, and then the keeper has
 * failed. */
static bool call(struct plugin *p, const struct plugin_request *request,
		 struct plugin_message *m)
{
	struct plugin_reply reply;

	*m = (struct plugin_message){ 0 };
	channel_send(&p->channel, request, sizeof(*request));
	for (unsigned i = 0; i < QUESTIONS; i++) {
		if (!channel_receive(&p->channel, m, sizeof(*m))) {
			keeper_fail(&p->keeper, "%s", p->channel.trouble);
			return false;
		}
		m->text[sizeof(m->text) - 1] = 0;
		if (m->kind != PLUGIN_DEVICE) {
			p->is_beyond = m->held &&
				       !keeper_hold(&p->keeper, m->held - 1);
			return true;
		}
		reply = ask_device(p, m);
		channel_send(&p->channel, &reply, sizeof(reply));
	}
	keeper_fail(&p->keeper,
		    "it asks the device again and again, without end");
	return false;
}

/* ---- calls of the table; self is the keeper's heap ---- */

static struct plugin *plugin_of(const struct keeper_heap *heap)
{
	return (struct plugin *)heap->keeper;
}

static bool simple(void *self, enum plugin_op op, struct plugin_message *m)
{
	const struct keeper_heap *heap = self;
	const struct plugin_request request = { .op = op, .heap = heap->index };

	return call(plugin_of(heap), &request, m);
}

static void *far_create(const struct gp_memory *memory)
{
	struct plugin_message m;

	return simple(memory->device, PLUGIN_CREATE, &m) && m.is_done
		       ? memory->device
		       : NULL;
}

static void far_destroy(void *self)
{
	struct plugin_message m;

	simple(self, PLUGIN_DESTROY, &m);
}

static bool far_alloc(void *self, const struct gp_ask *ask,
		      struct gp_piece *piece)
{
	const struct keeper_heap *heap = self;
	const struct plugin_request request = {
		.op = PLUGIN_ALLOC,
		.heap = heap->index,
		.size = ask->size,
		.id = ask->id,
		.stream = ask->stream,
		.pool = { ask->pool[0], ask->pool[1] },
	};
	struct plugin_message m;

	if (!call(plugin_of(heap), &request, &m) || !m.is_done)
		return false;
	*piece = (struct gp_piece){ m.addr, m.size, m.handle };
	return true;
}

/* A host allocator does not know the size of the device: a block that exceeds
 * it is freed again. */
static bool host_alloc(void *self, const struct gp_ask *ask,
		       struct gp_piece *piece)
{
	const struct keeper_heap *heap = self;
	struct plugin *p = plugin_of(heap);
	uint64_t free_bytes, total;

	heap->memory.info(heap->memory.device, &free_bytes, &total);
	if (ask->size > total)
		return false;
	if (!far_alloc(self, ask, piece)) {
		keeper_fail(&p->keeper,
			    "the system refuses so much memory, although "
			    "nothing is written to it: it is more than this "
			    "machine has, and sysctl vm.overcommit_memory is "
			    "not 1");
		return false;
	}
	if (!p->is_beyond)
		return true;
	p->table.free(self, piece);
	return false;
}

static void far_free(void *self, const struct gp_piece *piece)
{
	const struct keeper_heap *heap = self;
	const struct plugin_request request = {
		.op = PLUGIN_FREE,
		.heap = heap->index,
		.addr = piece->addr,
		.size = piece->size,
		.handle = piece->handle,
	};
	struct plugin_message m;

	call(plugin_of(heap), &request, &m);
}

static void far_trim(void *self)
{
	struct plugin_message m;

	simple(self, PLUGIN_TRIM, &m);
}

static void far_mark(void *self, const char *name)
{
	const struct keeper_heap *heap = self;
	struct plugin_request request = { .op = PLUGIN_MARK,
					  .heap = heap->index };
	struct plugin_message m;

	snprintf(request.text, sizeof(request.text), "%s", name);
	call(plugin_of(heap), &request, &m);
}

static uint64_t far_largest_free(void *self)
{
	struct plugin_message m;

	return simple(self, PLUGIN_LARGEST_FREE, &m) ? m.size : 0;
}

static struct gp_engine_table table_of(uint32_t calls)
{
	return (struct gp_engine_table){
		.version = GP_ENGINE_VERSION,
		.is_shared = calls & PLUGIN_IS_SHARED,
		.create = far_create,
		.destroy = calls & PLUGIN_HAS_DESTROY ? far_destroy : NULL,
		.alloc = far_alloc,
		.free = far_free,
		.trim = calls & PLUGIN_HAS_TRIM ? far_trim : NULL,
		.mark = calls & PLUGIN_HAS_MARK ? far_mark : NULL,
		.largest_free = calls & PLUGIN_HAS_LARGEST_FREE
					? far_largest_free
					: NULL,
	};
}

/* ---- creation and destruction ---- */

static enum gp_status refuse(const struct plugin_message *m,
			     struct gp_diag *diag)
{
	switch (m->what) {
	case PLUGIN_NOT_LOADED:
		return gp_diag_set(diag, GP_INPUT, "it cannot be loaded: %s",
				   m->text);
	case PLUGIN_NO_SYMBOL:
		gp_diag_hint(diag, "GP_ENGINE(table) of gpupool/engine.h "
				   "exports an engine");
		return gp_diag_set(diag, GP_INPUT,
				   "it is not an engine: it has no function %s",
				   GP_ENGINE_SYMBOL);
	case PLUGIN_NO_TABLE:
		return gp_diag_set(diag, GP_INPUT, "%s() returns no table",
				   GP_ENGINE_SYMBOL);
	case PLUGIN_OTHER_VERSION:
		return gp_diag_set(diag, GP_INPUT,
				   "it is made for version %u of "
				   "gpupool/engine.h; this gpupool has "
				   "version %u",
				   (unsigned)m->size, GP_ENGINE_VERSION);
	case PLUGIN_NO_CALLS:
		return gp_diag_set(diag, GP_INPUT,
				   "its table has no alloc, or no free");
	default: return GP_OK;
	}
}

/* Starts the process and has it load the library. */
static enum gp_status start(struct plugin *p, const char *program,
			    char *library, char *const *environment,
			    struct plugin_message *m, struct gp_diag *diag)
{
	char name[] = PLUGIN_PROCESS;
	char *nothing[] = { NULL }, *arguments[] = { name, library, NULL };
	const struct channel_start about = {
		.who = "its process",
		.program = program,
		.arguments = arguments,
		.environment = environment ? environment : nothing,
		.patience_s = PATIENCE_S,
	};
	const struct plugin_request hello = { .op = PLUGIN_HELLO };
	int error = channel_open(&p->channel, &about);

	if (error)
		return gp_diag_set(diag, GP_SYSTEM,
				   "no process could be started for it: %s: %s",
				   program, strerror(error));
	p->keeper.call.name = "its beginning";
	if (!call(p, &hello, m))
		return gp_diag_set(diag, GP_INPUT, "%s", p->keeper.trouble);
	return refuse(m, diag);
}

static void end_process(struct keeper *keeper)
{
	channel_close(&((struct plugin *)keeper)->channel);
}

/* Completes the creation, after the process was started or failed to start. */
static enum gp_status begin(struct plugin *p, enum gp_status status,
			    const struct gp_allocator_config *config,
			    struct gp_allocator **allocator,
			    struct gp_diag *diag)
{
	if (status != GP_OK) {
		channel_close(&p->channel);
		free(p);
		return status;
	}
	p->keeper.destroyed = end_process;
	status = keeper_init(&p->keeper, &p->table, config, diag);
	if (status != GP_OK)
		return status;
	*diag->file = 0;
	*allocator = &p->keeper.head;
	return GP_OK;
}

static enum gp_status create(const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag)
{
	const struct opened *from = (const struct opened *)config->engine;
	struct plugin *p = gp_mem_alloc(1, sizeof(*p));
	struct plugin_message m;
	enum gp_status status;

	gp_diag_file(diag, from->library);
	status = start(p, from->program, from->library, from->environment, &m,
		       diag);
	p->table = table_of(m.calls);
	p->keeper.is_checked = true;
	return begin(p, status, config, allocator, diag);
}

enum gp_status gp_host_create(const struct gp_allocator_config *config,
			      struct gp_allocator **allocator,
			      struct gp_diag *diag)
{
	const struct gp_engine *engine = config->engine;
	struct plugin *p = gp_mem_alloc(1, sizeof(*p));
	char **environment = host_environment(engine);
	struct plugin_message m = { 0 };
	char name[32];
	enum gp_status status;

	snprintf(name, sizeof(name), "%c%.*s", host_mark(engine),
		 (int)strcspn(engine->name, ":"), engine->name);
	status = start(p, engine->program ? engine->program : "gpupool", name,
		       environment, &m, diag);
	if (m.what == PLUGIN_NO_HOST)
		status = gp_diag_set(diag, GP_SYSTEM,
				     "%s cannot be loaded; on Debian: "
				     "apt-get install %s",
				     host_library(engine) ? host_library(engine)
							  : "the GNU C library",
				     engine->needs);
	p->table = table_of(m.calls);
	p->table.alloc = host_alloc;
	host_free_environment(environment);
	return begin(p, status, config, allocator, diag);
}

/* Prefixes a name without a folder with "./", so that it is not searched for
 * among the system's libraries. */
static char *path_of(const char *path)
{
	size_t size = strlen(path) + sizeof("./");
	char *copy = gp_mem_alloc(size, 1);

	snprintf(copy, size, "%s%s", strchr(path, '/') ? "" : "./", path);
	return copy;
}

static void close_library(struct gp_engine *engine)
{
	struct opened *o = (struct opened *)engine;

	free(o->library);
	free(o->program);
	free(o);
}

enum gp_status engine_open_library(const struct gp_engine_library *library,
				   struct gp_engine **engine,
				   struct gp_diag *diag)
{
	const char *program = library->program ? library->program : "gpupool";
	struct opened *o = gp_mem_alloc(1, sizeof(*o));
	struct plugin p = { 0 };
	struct plugin_message m;
	enum gp_status status;

	o->library = path_of(library->path);
	o->program = gp_mem_copy_text(program, strlen(program));
	o->environment = library->environment;
	gp_diag_file(diag, o->library);
	status = start(&p, o->program, o->library, o->environment, &m, diag);
	channel_close(&p.channel);
	if (status != GP_OK) {
		close_library(&o->engine);
		return status;
	}
	*diag->file = 0;
	memcpy(o->sentence, m.text, sizeof(o->sentence));
	o->engine = (struct gp_engine){
		.name = o->library,
		.sentence = o->sentence,
		.create = create,
		.close = close_library,
	};
	*engine = &o->engine;
	return GP_OK;
}
