/* SPDX-License-Identifier: MIT */
#include "simcuda/program/owners.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/evaluate.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/recorder.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/tensors.h"
#include "simcuda/program/torch.h"

#define THREAD_ID   "_ZN2at14RecordFunction15currentThreadIdEv"
#define RECORD_NAME "_ZNK2at14RecordFunction4nameEv"

/* enum gp_category of gpupool/trace.h, by its names. */
enum category {
	UNKNOWN,
	PARAMETER,
	BUFFER,
	GRADIENT,
	OPTIMIZER_STATE,
	ACTIVATION,
	TEMPORARY,
	CUBLAS_WORKSPACE,
	CUDNN_WORKSPACE,
	NCCL,
	CATEGORIES,
};

static const char *const names[CATEGORIES] = {
	"unknown",	   "parameter",	 "buffer",    "gradient",
	"optimizer_state", "activation", "temporary", "cublas_workspace",
	"cudnn_workspace", "nccl",
};

#define NO_MODULE (-1)
/* A block exceeds its contents by less than this many bytes. */
#define ROUNDING  512

struct module {
	char *path, *type;
	int is; /* index of the module it was renamed to, or of itself */
};

/* A live block. */
struct block {
	uint64_t addr, size;
	uint32_t id;
	uint32_t written; /* the owner last written to the journal */
	uint32_t range;	  /* it was made in; 0: none that ends */
	int module;
	uint8_t category;
	uint8_t device;
	bool is_there, is_final;
};

/* What a thread executes: nested ranges. */
enum kind { MODULE, NODE, STEP };
struct frame {
	enum kind kind;
	int module;
	uint32_t range; /* of the outermost module, or of the step */
};

static struct {
	struct module *modules;
	size_t module_count, module_room;
	struct gp_map owners; /* category and module -> index */
	struct gp_map by_addr;
	struct block *blocks;
	size_t block_count, block_room;
	uint32_t *unused; /* indices of free blocks */
	size_t unused_count, unused_room;
	struct gp_map open; /* ranges */
	uint32_t ranges;
	uint64_t (*thread)(void); /* at::RecordFunction::currentThreadId */
	/* at::RecordFunction::name; NULL: there is none */
	const char *(*node_name)(const char *record);
} all;

static _Thread_local struct {
	struct frame *items;
	size_t count, room;
	uint64_t id; /* PyTorch's thread id; 0: not asked yet */
	enum { NOT_ASKED, IS_AUTOGRADS, IS_NOT } whose;
} frames;

static const struct frame *top(void)
{
	return frames.count ? &frames.items[frames.count - 1] : NULL;
}

/* Backward nodes run in threads of their own. That also tells them apart in
 * releases whose nodes cannot be read. */
static bool is_backward(void)
{
	const struct frame *f = top();
	char name[16] = "";

	if (f)
		return f->kind == NODE;
	if (frames.whose == NOT_ASKED) {
		pthread_getname_np(pthread_self(), name, sizeof(name));
		frames.whose = strncmp(name, "pt_autograd", 11) ? IS_NOT
								: IS_AUTOGRADS;
	}
	return frames.whose == IS_AUTOGRADS;
}

/* ---- owners, in the order of the journal ---- */

static void put_owner(enum category category, int module)
{
	entries_put("{\"owners\":[{\"category\":\"%s\"", names[category]);
	if (module != NO_MODULE) {
		entries_put(",\"module\":");
		recorder_put_text(all.modules[module].path);
		entries_put(",\"class\":");
		recorder_put_text(all.modules[module].type);
	}
	entries_put("}]}\n");
}

static uint32_t owner_of(enum category category, int module)
{
	uint64_t key;
	uint32_t owner;

	while (module != NO_MODULE && all.modules[module].is != module)
		module = all.modules[module].is;
	if (category == UNKNOWN && module == NO_MODULE)
		return NO_OWNER;
	key = (uint64_t)(module + 1) * CATEGORIES + category;
	owner = gp_map_get(&all.owners, key);
	if (owner != GP_MAP_NONE)
		return owner;
	owner = (uint32_t)all.owners.count;
	gp_map_put(&all.owners, key, owner);
	put_owner(category, module);
	return owner;
}

/* ---- blocks ---- */

static struct block *block_at(uint64_t addr)
{
	uint32_t index = gp_map_get(&all.by_addr, addr);

	return index == GP_MAP_NONE ? NULL : &all.blocks[index];
}

static struct block *new_block(uint64_t addr)
{
	uint32_t index = gp_map_get(&all.by_addr, addr);

	if (index == GP_MAP_NONE && all.unused_count)
		index = all.unused[--all.unused_count];
	if (index == GP_MAP_NONE) {
		index = (uint32_t)all.block_count++;
		GP_GROW(all.blocks, all.block_count, all.block_room);
	}
	gp_map_put(&all.by_addr, addr, index);
	return &all.blocks[index];
}

uint32_t owners_made(int device, uint32_t id, uint64_t addr, uint64_t size)
{
	static const enum category made_in[] = {
		[MODULE] = ACTIVATION,
		[NODE] = TEMPORARY,
		[STEP] = TEMPORARY,
	};
	const struct frame *f = top();
	struct block *b = new_block(addr);

	*b = (struct block){
		.addr = addr,
		.size = size,
		.id = id,
		.device = (uint8_t)device,
		.range = f ? f->range : 0,
		.module = f ? f->module : NO_MODULE,
		.category = (uint8_t)(f		      ? made_in[f->kind]
				      : is_backward() ? TEMPORARY
						      : UNKNOWN),
		.is_there = true,
	};
	b->written = owner_of(b->category, b->module);
	return b->written;
}

static bool is_open(uint32_t range)
{
	return gp_map_get(&all.open, range) != GP_MAP_NONE;
}

/* The category of a block that is being freed. */
static enum category turned_out(const struct block *b)
{
	if (b->is_final)
		return b->category;
	if (b->category == ACTIVATION)
		return is_open(b->range) ? TEMPORARY : ACTIVATION;
	if (b->category == TEMPORARY && b->range && !is_open(b->range))
		return UNKNOWN;
	if (b->category == UNKNOWN && is_backward())
		return ACTIVATION;
	return b->category;
}

uint32_t owners_freed(uint64_t addr)
{
	uint32_t index = gp_map_take(&all.by_addr, addr), owner;
	struct block *b;

	if (index == GP_MAP_NONE)
		return NO_OWNER;
	b = &all.blocks[index];
	owner = owner_of(turned_out(b), b->module);
	b->is_there = false;
	GP_GROW(all.unused, all.unused_count + 1, all.unused_room);
	all.unused[all.unused_count++] = index;
	return owner == b->written ? NO_OWNER : owner;
}

/* An unknown category is written, too: that of a block made in a step may turn
 * out to be unknown. */
static void write_owner(struct block *b)
{
	uint32_t owner = owner_of(b->category, b->module);

	if (owner == b->written || owner == NO_OWNER)
		return;
	b->written = owner;
	entries_put("{\"devices\":[{\"device\":%d,\"owned\":[[%u,%u]]}]}\n",
		    (int)b->device, b->id, owner);
}

void owners_settle(void)
{
	for (size_t i = 0; i < all.block_count; i++)
		if (all.blocks[i].is_there)
			write_owner(&all.blocks[i]);
}

static void set(struct block *b, enum category category, int module)
{
	b->category = (uint8_t)category;
	b->module = module;
	b->is_final = true;
	write_owner(b);
}

/* ---- what threads execute ---- */

static void push(enum kind kind, int module)
{
	const struct frame *f = top();
	uint32_t range = f && f->kind == kind ? f->range : 0;

	if (kind != NODE && !range && recorder_enter()) {
		range = ++all.ranges;
		gp_map_put(&all.open, range, 1);
		recorder_leave();
	}
	GP_GROW(frames.items, frames.count + 1, frames.room);
	frames.items[frames.count++] = (struct frame){ kind, module, range };
}

/* Also ends the ranges that an exception left open within it. */
static void pop(enum kind kind)
{
	uint32_t range;

	while (frames.count) {
		enum kind last = frames.items[--frames.count].kind;

		range = frames.items[frames.count].range;
		if (range && (!top() || top()->range != range) &&
		    recorder_enter()) {
			gp_map_take(&all.open, range);
			recorder_leave();
		}
		if (last == kind)
			return;
	}
}

/*
 * Which module made each backward node: a table indexed by a hash of the thread
 * and of the node's sequence number in it. The low bits of an entry are the
 * module. A node whose entry was overwritten by another is not known.
 */
#define NODES	    (1u << 18)
#define MODULE_BITS 20
#define MODULE_MASK ((UINT64_C(1) << MODULE_BITS) - 1)

static _Atomic uint64_t nodes[NODES];

static uint64_t node_of(int64_t sequence, uint64_t thread)
{
	return gp_hash64(gp_hash64(thread) ^ (uint64_t)sequence);
}

void owners_prepare(void)
{
	*(void **)&all.thread = torch_symbol("torch_cpu", THREAD_ID);
	*(void **)&all.node_name = torch_symbol("torch_cpu", RECORD_NAME);
}

void owners_operator(int64_t sequence)
{
	const struct frame *f = top();
	uint64_t node;

	if (sequence < 0 || !f || f->kind != MODULE || !all.thread)
		return;
	if (!frames.id)
		frames.id = all.thread();
	node = node_of(sequence, frames.id);
	atomic_store_explicit(&nodes[node >> 46],
			      (node & ~MODULE_MASK) |
				      ((uint64_t)f->module & MODULE_MASK),
			      memory_order_relaxed);
}

static void enter_node(int64_t sequence, uint64_t thread)
{
	uint64_t node = node_of(sequence, thread);
	uint64_t found =
		atomic_load_explicit(&nodes[node >> 46], memory_order_relaxed);
	uint64_t module = found & MODULE_MASK;
	bool is_known = sequence >= 0 && !((found ^ node) & ~MODULE_MASK) &&
			module != MODULE_MASK;

	push(NODE, is_known ? (int)module : NO_MODULE);
}

void *owners_enter_node(void **context, const char *record)
{
	*context = NULL;
	if (evaluate_is_here())
		return context;
	enter_node(tensors_sequence(record), tensors_forward_thread(record));
	if (all.node_name)
		interpreter_set_node(all.node_name(record));
	return context;
}

void owners_leave_node(const char *record, void *context)
{
	(void)record;
	(void)context;
	if (evaluate_is_here())
		return;
	pop(NODE);
	interpreter_set_node(NULL);
}

/* ---- memory passed to libraries ---- */

void owners_workspace(enum owners_library library, uint64_t addr)
{
	struct block *b;

	if (!addr || !recorder_enter())
		return;
	b = block_at(addr);
	if (b && !b->is_final)
		set(b,
		    library == OWNERS_CUBLAS ? CUBLAS_WORKSPACE
					     : CUDNN_WORKSPACE,
		    NO_MODULE);
	recorder_leave();
}

/* DistributedDataParallel reallocates its buckets when its second forward
 * begins. */
static bool is_bucket(const struct block *b)
{
	return b->category == ACTIVATION && b->module != NO_MODULE &&
	       !strcmp(all.modules[b->module].type, "DistributedDataParallel");
}

void owners_collective(uint64_t addr)
{
	struct block *b;

	if (!addr || !recorder_enter())
		return;
	b = block_at(addr);
	if (b && !b->is_final && (b->category == UNKNOWN || is_bucket(b)))
		set(b, NCCL, NO_MODULE);
	recorder_leave();
}

/* ---- for owners.py ---- */

/* Returns the number by which the module is named from now on. */
int simcuda_owner_module(const char *path, const char *type)
{
	int module = NO_MODULE;

	if (!recorder_enter())
		return module;
	if (all.module_count < MODULE_MASK) {
		GP_GROW(all.modules, all.module_count + 1, all.module_room);
		module = (int)all.module_count++;
		all.modules[module] = (struct module){
			.path = gp_mem_copy_text(path, strlen(path)),
			.type = gp_mem_copy_text(type, strlen(type)),
			.is = module,
		};
	}
	recorder_leave();
	return module;
}

/* A module takes this name, which another or it may have had before. `from`
 * was its name until now, if it is not negative. */
void simcuda_owner_rename(int from, int to)
{
	if (to < 0 || !recorder_enter())
		return;
	all.modules[to].is = to;
	if (from >= 0)
		all.modules[from].is = to;
	recorder_leave();
}

void simcuda_owner_enter(int is_step, int module)
{
	if (is_step && top() && top()->kind == STEP) /* one was left open */
		pop(STEP);
	push(is_step ? STEP : MODULE, module);
}

void simcuda_owner_leave(int is_step)
{
	pop(is_step ? STEP : MODULE);
}

/* Sets the category of the block that a tensor with these bytes is in. The
 * module of a block is the one that was set first; memory that several tensors
 * share belongs to none. */
void simcuda_owner_is(uint64_t addr, uint64_t bytes, const char *category,
		      int module)
{
	int c = CATEGORIES - 1;
	struct block *b;

	while (c > UNKNOWN && strcmp(names[c], category) != 0)
		c--;
	if (!addr || !recorder_enter())
		return;
	b = block_at(addr);
	if (b && bytes + ROUNDING <= b->size)
		module = NO_MODULE;
	if (b && (!b->is_final || b->category != c || b->module == NO_MODULE))
		set(b, (enum category)c, module);
	recorder_leave();
}

#define NO_PARAMETER (-2)

/* The module of the parameter at this address; -1: not known. */
int simcuda_owner_of(uint64_t addr)
{
	const struct block *b;
	int module = NO_PARAMETER;

	if (!addr || !recorder_enter())
		return module;
	b = block_at(addr);
	if (b && b->is_final && b->category == PARAMETER)
		module = b->module;
	recorder_leave();
	return module;
}
