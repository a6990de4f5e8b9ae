/* SPDX-License-Identifier: MIT */
/* The offsets are those of the PyPI wheels for x86-64, which use libstdc++. */
#include "simcuda/program/tensors.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/process.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/scripts.h"

#define FIRST_RELEASE	   1
#define LAST_RELEASE	   15
/* The first release with unsigned integers in an IValue; the kinds that follow
 * have numbers one higher. */
#define FIRST_UNSIGNED	   9
/* The first release that also keeps named inputs:
 * at::RecordFunction::kwinputs_, a std::unordered_map before the outputs. */
#define FIRST_NAMED_INPUTS 4
#define NAMED_INPUTS	   56 /* bytes */

/* Wheels up to 2.6 have the std::string from before C++11, which is 24 bytes
 * smaller; up to 2.2, an object's two reference counts take 8 more bytes; in
 * 2.1 an optional device begins with its flag. Which shift a release has is
 * found by reading a tensor: up to 2.11 it is the first, from 2.13 on the
 * second. */
#define LAYOUT(shift, string, counts, optional)                                \
	{                                                                      \
		.record_schema = 160, .record_is_schema = 160 + (string),      \
		.record_sequence = 168 + (string),                             \
		.record_inputs = 176 + (string),                               \
		.record_outputs = 248 + (string),                              \
		.record_thread = 272 + (string), .scopes = 10,                 \
		.storage = 16 + (counts), .sizes = 64 + (counts) - (shift),    \
		.storage_offset = 152 + (counts) - (shift),                    \
		.numel = 160 + (counts) - (shift),                             \
		.dtype = 168 + (counts) - (shift),                             \
		.device = 170 + (counts) - (shift) + (optional),               \
		.has_device = 172 + (counts) - (shift)-2 * (optional),         \
		.keys = 176 + (counts) - (shift),                              \
		.storage_data = 16 + (counts), .storage_bytes = 48 + (counts), \
		.in_object = 16 + (counts), .overload = (string),              \
	}

static const struct torch_layout layouts[] = {
	LAYOUT(0, 32, 0, 0), LAYOUT(8, 32, 0, 0), LAYOUT(0, 8, 0, 0),
	LAYOUT(0, 8, 8, 0),  LAYOUT(0, 8, 8, 1),
};

#define CPU	    0
#define CUDA	    1
/* c10::impl::SizesAndStrides: a count, then this many of each, or a pointer. */
#define INLINE_DIMS 5

static struct {
	const struct torch_layout *layout;
	unsigned backends; /* number of c10::BackendComponent bits */
	struct torch_keys keys;
	unsigned release;
} torch;

bool tensors_set_release(unsigned release)
{
	torch.release = release;
	return release >= FIRST_RELEASE && release <= LAST_RELEASE;
}

enum value_kind tensors_kind(const struct torch_value *value)
{
	return value->tag > VALUE_INT && torch.release < FIRST_UNSIGNED
		       ? value->tag + 1
		       : value->tag;
}

void tensors_set_keys(const struct torch_keys *keys)
{
	torch.keys = *keys;
}

const struct torch_layout *tensors_layout(void)
{
	return torch.layout;
}

static uint64_t word(const char *from, size_t offset)
{
	uint64_t value;

	memcpy(&value, from + offset, sizeof(value));
	return value;
}

static const char *pointer(const char *from, size_t offset)
{
	const char *value;

	memcpy(&value, from + offset, sizeof(value));
	return value;
}

size_t tensors_element(int dtype)
{
	static const uint8_t bytes[] = {
		1, 1, 2, 4, 8, 2, 4, 8, 0, 8, 16, 1, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,  1, 2, 4, 8,
	};

	return dtype >= 0 && (size_t)dtype < sizeof(bytes) ? bytes[dtype] : 0;
}

bool tensors_is_real(int dtype)
{
	return (dtype >= DTYPE_HALF && dtype <= DTYPE_DOUBLE) ||
	       dtype == DTYPE_COMPLEX || dtype == DTYPE_COMPLEX_DOUBLE ||
	       dtype == DTYPE_BFLOAT16 || dtype > 22;
}

void tensors_half(float value, void *to)
{
	uint32_t bits, sign;
	int32_t exponent;
	uint16_t half;

	memcpy(&bits, &value, sizeof(bits));
	sign = bits >> 16 & 0x8000;
	exponent = (int32_t)(bits >> 23 & 0xff) - 127 + 15;
	if (exponent <= 0)
		half = (uint16_t)sign;
	else if (exponent >= 31)
		half = (uint16_t)(sign | 0x7c00);
	else
		half = (uint16_t)(sign | (uint32_t)exponent << 10 |
				  (bits >> 13 & 0x3ff));
	memcpy(to, &half, sizeof(half));
}

static void read_sizes(const char *at, struct shape *s)
{
	const char *sizes = at + 8, *strides = at + 8 + (size_t)INLINE_DIMS * 8;

	if (s->dims > INLINE_DIMS) {
		sizes = pointer(at, 8);
		strides = sizes + (size_t)s->dims * 8;
	}
	memcpy(s->sizes, sizes, (size_t)s->dims * 8);
	memcpy(s->strides, strides, (size_t)s->dims * 8);
}

/* Represents the tensor by its whole storage, in bytes. */
static void make_opaque(const char *storage, struct shape *s)
{
	s->is_opaque = true;
	s->addr = word(storage, torch.layout->storage_data);
	s->numel = word(storage, torch.layout->storage_bytes);
	s->dims = 1;
	s->sizes[0] = (int64_t)s->numel;
	s->strides[0] = 1;
	s->dtype = 0;
}

bool tensors_read(const void *tensor, struct shape *s)
{
	const struct torch_layout *l = torch.layout;
	const char *at = tensor, *storage = pointer(at, l->storage);
	uint64_t dims = word(at, l->sizes);
	uint64_t keys = word(at, l->keys) >> torch.backends;
	int device = at[l->device];

	memset(s, 0, sizeof(*s));
	if (!storage || !at[l->has_device] || (device != CPU && device != CUDA))
		return false;
	s->addr = word(storage, l->storage_data);
	s->is_device = device == CUDA;
	s->numel = word(at, l->numel);
	/* A tensor that only represents another one has no memory. */
	if (s->numel && (!s->addr || s->is_device != memory_is_device(s->addr)))
		return false;
	s->dtype = at[l->dtype];
	if (dims > MOST_DIMS || !tensors_element(s->dtype) ||
	    (keys & torch.keys.not_plain)) {
		make_opaque(storage, s);
		return true;
	}
	s->is_conjugated = keys & torch.keys.conjugated;
	s->is_negated = keys & torch.keys.negated;
	s->dims = (int)dims;
	read_sizes(at + l->sizes, s);
	s->addr += word(at, l->storage_offset) * tensors_element(s->dtype);
	return true;
}

/* The members that follow those of all tensors: the numbers of sparse and of
 * dense dimensions, and the tensors of indices and of values. */
const void *tensors_indices(const void *tensor)
{
	const struct torch_layout *l = torch.layout;
	const char *at = (const char *)tensor + l->keys + 8;

	if (pointer(tensor, l->storage) || !word(at, 0) ||
	    word(at, 0) > MOST_DIMS || word(at, 8) > MOST_DIMS)
		return NULL;
	return pointer(at, 16);
}

/* c10::DispatchKeySet has a bit for each backend, the processor's first,
 * followed by those of functionality, of which the first means that a tensor is
 * dense. */
static void count_backends(const void *dense)
{
	uint64_t keys = word(dense, torch.layout->keys);

	for (torch.backends = 1; torch.backends < 32; torch.backends++)
		if (keys >> torch.backends & 1)
			return;
}

bool simcuda_find_layout(const void *tensor, uint64_t addr, int string)
{
	struct shape s;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].overload != string)
			continue;
		torch.layout = &layouts[i];
		if (tensors_read(tensor, &s) && !s.is_opaque && !s.is_device &&
		    s.addr == addr && s.dims == 2 && s.sizes[0] == 2 &&
		    s.sizes[1] == 5 && s.strides[0] == 7 && s.strides[1] == 1 &&
		    s.numel == 10 && s.dtype == DTYPE_SHORT) {
			count_backends(tensor);
			return true;
		}
	}
	torch.layout = NULL;
	return false;
}

/* The number of bytes from the first to the last element. */
static uint64_t span_of(const struct shape *s, uint64_t *begin)
{
	uint64_t elements = 1;

	*begin = s->addr;
	if (!s->numel)
		return 0;
	for (int i = 0; i < s->dims; i++)
		elements +=
			(uint64_t)(s->sizes[i] - 1) * (uint64_t)s->strides[i];
	return elements * tensors_element(s->dtype);
}

const void *tensors_of(const struct torch_value *value)
{
	return value->object;
}

/* A std::vector: where it begins and ends. */
static struct torch_values vector(const char *at)
{
	const char *first = pointer(at, 0), *end = pointer(at, 8);

	return (struct torch_values){ (const struct torch_value *)first,
				      (size_t)(end - first) /
					      sizeof(struct torch_value) };
}

struct torch_values tensors_list(const struct torch_value *list)
{
	return vector((const char *)list->object + torch.layout->in_object);
}

bool tensors_hide_memory(const struct torch_value *value)
{
	struct torch_values list;
	bool hides = false;

	switch (tensors_kind(value)) {
	case VALUE_NONE:
	case VALUE_TENSOR:
	case VALUE_DOUBLE:
	case VALUE_COMPLEX:
	case VALUE_BOOL:
	case VALUE_STRING:
	case VALUE_DEVICE:
	case VALUE_STREAM:
	case VALUE_GENERATOR: return false;
	case VALUE_INT: return memory_is_device((uint64_t)value->number);
	case VALUE_LIST:
		list = tensors_list(value);
		for (size_t i = 0; i < list.count && !hides; i++)
			hides = tensors_hide_memory(&list.items[i]);
		return hides;
	default: return true;
	}
}

struct torch_values tensors_inputs(const char *record)
{
	const char *at = record + torch.layout->record_inputs;

	return (struct torch_values){
		(const struct torch_value *)pointer(at, 0), word(at, 8)
	};
}

static size_t behind_inputs(size_t offset)
{
	return torch.release < FIRST_NAMED_INPUTS ? offset - NAMED_INPUTS
						  : offset;
}

struct torch_values tensors_outputs(const char *record)
{
	return vector(record + behind_inputs(torch.layout->record_outputs));
}

int64_t tensors_sequence(const char *record)
{
	return (int64_t)word(record, torch.layout->record_sequence);
}

uint64_t tensors_forward_thread(const char *record)
{
	return word(record, behind_inputs(torch.layout->record_thread));
}

const char *tensors_schema(const char *record)
{
	return record[torch.layout->record_is_schema] == 1
		       ? pointer(record, torch.layout->record_schema)
		       : NULL;
}

/* A std::string begins with the pointer to its bytes. */
const char *tensors_name(const char *schema)
{
	return pointer(schema, 0);
}

const char *tensors_overload(const char *schema)
{
	return pointer(schema, torch.layout->overload);
}

/* ---- arguments: copies of what is known of them ---- */

/* A tensor with more runs than this is forgotten as a whole, including what
 * lies between its runs. */
#define MOST_SINGLE_RUNS 65536

/* ---- memory ---- */

struct arena_piece {
	struct arena_piece *next;
	_Alignas(16) char bytes[];
};

void *arena_take(struct arena *arena, size_t size)
{
	struct arena_piece *piece = gp_mem_alloc(1, sizeof(*piece) + size);

	piece->next = arena->first;
	arena->first = piece;
	return piece->bytes;
}

void arena_release(struct arena *arena)
{
	while (arena->first) {
		struct arena_piece *piece = arena->first;

		arena->first = piece->next;
		free(piece);
	}
}

/* ---- elements, in contiguous runs ---- */

struct run {
	bool (*each)(struct run *run, uint64_t addr, size_t size);
	unsigned char *bytes;	    /* NULL: none */
	const unsigned char *known; /* a 1 for each known byte; NULL: all are */
	int dtype;
	bool is_drawn, is_guess;
	uint64_t taken; /* number of known bytes among those read */
};

static bool walk(const struct shape *s, int dim, uint64_t addr, struct run *run)
{
	size_t element = tensors_element(s->dtype), size = element;

	if (dim == s->dims || (dim == s->dims - 1 && s->strides[dim] == 1)) {
		if (dim < s->dims)
			size = element * (size_t)s->sizes[dim];
		if (!run->each(run, addr, size))
			return false;
		if (run->bytes)
			run->bytes += size;
		if (run->known)
			run->known += size;
		return true;
	}
	for (int64_t i = 0; i < s->sizes[dim]; i++)
		if (!walk(s, dim + 1,
			  addr + (uint64_t)(i * s->strides[dim]) * element,
			  run))
			return false;
	return true;
}

static bool take(struct run *run, uint64_t addr, size_t size)
{
	return kept_take(addr, run->bytes, size) == KEPT_KNOWN;
}

static bool take_or_draw(struct run *run, uint64_t addr, size_t size)
{
	enum kept_state state = kept_take(addr, run->bytes, size);

	run->is_drawn |= state != KEPT_KNOWN;
	if (state != KEPT_UNKNOWN)
		return true;
	draws_fill(run->dtype, size / tensors_element(run->dtype), run->bytes);
	kept_fill_in(addr, run->bytes, size);
	return true;
}

static bool take_or_0(struct run *run, uint64_t addr, size_t size)
{
	run->taken += kept_take_or(addr, run->bytes, size, 0);
	return true;
}

static bool take_or_1(struct run *run, uint64_t addr, size_t size)
{
	run->taken += kept_take_or(addr, run->bytes, size, 1);
	return true;
}

/* Like take, but sets all bits of an unknown number. */
static bool take_or_ones(struct run *run, uint64_t addr, size_t size)
{
	run->taken += kept_take_or(addr, run->bytes, size, 0xff);
	return true;
}

static bool take_as_read(struct run *run, uint64_t addr, size_t size)
{
	enum kept_state state = kept_take(addr, run->bytes, size);

	run->is_guess |= state == KEPT_DRAWN;
	if (state == KEPT_UNKNOWN)
		kept_read(addr, run->bytes, size);
	return true;
}

static bool take_from_host(struct run *run, uint64_t addr, size_t size)
{
	memcpy(run->bytes, (const void *)(uintptr_t)addr, size);
	run->taken += size;
	return true;
}

static void put_known(const struct run *run, uint64_t addr, size_t size)
{
	for (size_t i = 0; run->known && i < size; i++)
		if (run->known[i])
			kept_write(addr + i, run->bytes + i, 1);
}

static bool put(struct run *run, uint64_t addr, size_t size)
{
	if (run->is_drawn)
		kept_draw(addr, run->bytes, size);
	else if (run->known)
		kept_forget(addr, size);
	else
		kept_write(addr, run->bytes, size);
	put_known(run, addr, size);
	return true;
}

/* Whether a guess is NaN, as from 0 / 0: no correct program has such values. */
static bool is_none(int dtype, const unsigned char *at)
{
	double wide;
	float single;
	uint16_t half;

	switch (dtype) {
	case DTYPE_DOUBLE: return isnan((memcpy(&wide, at, 8), wide));
	case DTYPE_FLOAT: return isnan((memcpy(&single, at, 4), single));
	case DTYPE_HALF: return (memcpy(&half, at, 2), half & 0x7fff) > 0x7c00;
	case DTYPE_BFLOAT16:
		return (memcpy(&half, at, 2), half & 0x7fff) > 0x7f80;
	default: return false;
	}
}

static void clear_none(const struct run *run, size_t size)
{
	size_t element = tensors_element(run->dtype);

	for (size_t at = 0; at < size; at += element)
		if (!(run->known && run->known[at]) &&
		    is_none(run->dtype, run->bytes + at))
			memset(run->bytes + at, 0, element);
}

/* Most programs never need a guess; then nothing has to be followed. */
static atomic_bool has_guessed;

static bool guess(struct run *run, uint64_t addr, size_t size)
{
	has_guessed = true;
	clear_none(run, size);
	kept_draw(addr, run->bytes, size);
	put_known(run, addr, size);
	return true;
}

static bool doubt(struct run *run, uint64_t addr, size_t size)
{
	unsigned char *bytes = gp_mem_alloc(size, 1);

	(void)run;
	kept_read(addr, bytes, size);
	kept_draw(addr, bytes, size);
	free(bytes);
	return true;
}

static bool forget(struct run *run, uint64_t addr, size_t size)
{
	(void)run;
	kept_forget(addr, size);
	return true;
}

static bool clear(struct run *run, uint64_t addr, size_t size)
{
	(void)run;
	kept_fill(addr, 0, size);
	return true;
}

/* The same shape with adjacent dimensions merged if they are contiguous. */
static struct shape merged(const struct shape *s)
{
	struct shape m = *s;
	int n = 0;

	for (int i = 0; i < s->dims; i++) {
		if (s->sizes[i] == 1)
			continue;
		if (n && m.strides[n - 1] == s->sizes[i] * s->strides[i]) {
			m.sizes[n - 1] *= s->sizes[i];
			m.strides[n - 1] = s->strides[i];
		} else {
			m.sizes[n] = s->sizes[i];
			m.strides[n++] = s->strides[i];
		}
	}
	m.dims = n;
	return m;
}

bool arguments_can_write(const struct shape *shape)
{
	struct shape m = merged(shape);
	uint64_t run = tensors_element(shape->dtype);

	if (m.dims && m.strides[m.dims - 1] == 1)
		run *= (uint64_t)m.sizes[m.dims - 1];
	return shape->is_device && run <= kept_limits()->most &&
	       shape->numel * tensors_element(shape->dtype) <=
		       kept_limits()->most_of_all;
}

/* Whether the tensor is forgotten together with all that lies between its
 * runs. */
static bool is_at_once(const struct shape *merged, const struct run *run)
{
	int last = merged->dims - 1;
	bool has_rows = last >= 0 && merged->strides[last] == 1;
	uint64_t row = has_rows ? (uint64_t)merged->sizes[last] : 1;

	return (run->each == forget || run->each == clear) &&
	       merged->numel / row > MOST_SINGLE_RUNS;
}

/* Changes the elements of a device's tensor. */
static void change(const struct shape *shape, struct run run)
{
	struct shape m = merged(shape);
	uint64_t begin, span = span_of(shape, &begin);

	if (!shape->is_device || !span)
		return;
	process_lock();
	if (is_at_once(&m, &run))
		kept_forget(begin, span);
	else
		walk(&m, 0, m.addr, &run);
	process_unlock();
}

void arguments_write(const struct shape *shape, const struct elements *elements)
{
	change(shape, (struct run){
			      .each = !elements->bytes	   ? forget
				      : elements->is_guess ? guess
							   : put,
			      /* Never written to: put only reads it. */
			      .bytes = (unsigned char *)elements->bytes,
			      .known = elements->known,
			      .dtype = shape->dtype,
			      .is_drawn = elements->is_drawn,
		      });
}

void arguments_clear(const struct shape *shape)
{
	change(shape, (struct run){ .each = clear });
}

void arguments_doubt(const struct shape *shape)
{
	change(shape, (struct run){ .each = doubt });
}

void arguments_presume(const struct shape *shape)
{
	unsigned char truth = 1, found;
	enum kept_state state;
	struct run run = { .bytes = &truth, .dtype = DTYPE_BOOL };

	if (!shape->is_device || shape->numel != 1 ||
	    shape->dtype != DTYPE_BOOL)
		return;
	process_lock();
	state = kept_take(shape->addr, &found, 1);
	if (state == KEPT_UNKNOWN ||
	    (state == KEPT_DRAWN && !draws_policy()->draws))
		guess(&run, shape->addr, 1);
	process_unlock();
}

/* ---- arguments ---- */

struct reading {
	const struct arguments_wish *wish;
	uint64_t bytes, real_bytes, largest_real;
	bool is_drawn, is_guess;
	/* What an unknown truth reads as, and each unknown bit of an
	 * integer. */
	enum { NO_TRUTH, SUPPOSED_FALSE, SUPPOSED_TRUE, AS_READ } otherwise;
	bool is_any_known;
	/* How this argument is read. */
	enum { READ, READ_IF_KNOWN, UNREAD } reads;
	bool is_partly; /* partly known values do; else all must be known */
};

static bool is_little(struct reading *r, const struct shape *s)
{
	const struct draws_policy *policy = draws_policy();
	uint64_t size = s->numel * tensors_element(s->dtype);

	r->bytes += size;
	if (tensors_is_real(s->dtype)) {
		r->real_bytes += size;
		if (size > r->largest_real)
			r->largest_real = size;
	}
	if (policy->draws && r->wish->of.is_decisive)
		return r->bytes <= policy->most_decisive;
	if (r->bytes > policy->most)
		return false;
	if (r->real_bytes <= policy->most_real)
		return true;
	if (policy->draws || r->wish->of.is_costly)
		return false;
	/* As if there were two arguments of the same size. */
	return !r->wish->of.multiplies ||
	       r->largest_real * (r->real_bytes - r->largest_real) <=
		       policy->most_real / 2 * (policy->most_real / 2);
}

static bool (*reader(const struct reading *r,
		     const struct shape *s))(struct run *run, uint64_t addr,
					     size_t size)
{
	if (!s->is_device)
		return take_from_host;
	if (r->otherwise == AS_READ)
		return take_as_read;
	if (r->reads == READ_IF_KNOWN)
		return take;
	if (r->otherwise == NO_TRUTH)
		return draws_policy()->draws ? take_or_draw : take;
	if (tensors_is_real(s->dtype) || !r->is_partly)
		return take;
	if (r->otherwise == SUPPOSED_FALSE)
		return take_or_0;
	return s->dtype == DTYPE_BOOL ? take_or_1 : take_or_ones;
}

static bool is_integer(const struct shape *s)
{
	return s->numel == 1 && !tensors_is_real(s->dtype) &&
	       s->dtype != DTYPE_BOOL;
}

static bool read_bytes(struct reading *r, struct argument *a)
{
	struct shape m = merged(&a->shape);
	struct run run = { .each = reader(r, &a->shape),
			   .dtype = a->shape.dtype };
	uint64_t begin, span = span_of(&a->shape, &begin);
	unsigned char *bytes;
	bool is_there;

	if (!is_little(r, &a->shape) ||
	    (r->otherwise == AS_READ && !r->wish->of.takes_as_read &&
	     !is_integer(&a->shape)))
		return false;
	bytes = arena_take(r->wish->arena,
			   a->shape.numel * tensors_element(a->shape.dtype));
	a->bytes = run.bytes = bytes;
	if (!a->shape.numel)
		return true;
	if (a->shape.is_device) {
		process_before_read(begin, span);
		process_lock();
	}
	is_there = walk(&m, 0, m.addr, &run);
	if (a->shape.is_device)
		process_unlock();
	r->is_any_known |= run.taken > 0;
	r->is_drawn |= run.is_drawn;
	r->is_guess |= run.is_guess;
	return is_there;
}

/* c10::UndefinedTensorImpl, as for the first dimension of x[:, mask]. */
static bool is_undefined(const void *tensor)
{
	const struct torch_layout *l = torch.layout;

	return !pointer(tensor, l->storage) &&
	       !((const char *)tensor)[l->has_device];
}

static bool read_tensor(struct reading *r, const void *tensor,
			struct argument *a)
{
	if (is_undefined(tensor))
		return true;
	a->kind = ARGUMENT_TENSOR;
	if (r->wish->of.is_sparse)
		tensor = tensors_indices(tensor);
	if (!tensor || !tensors_read(tensor, &a->shape) || a->shape.is_opaque)
		return false;
	if (r->reads == UNREAD)
		return !r->wish->counts_all || is_little(r, &a->shape);
	if (read_bytes(r, a))
		return true;
	a->bytes = NULL;
	return r->reads == READ_IF_KNOWN;
}

static bool read_value(struct reading *r, const struct torch_value *value,
		       struct argument *a);

static bool read_list(struct reading *r, const struct torch_value *list,
		      struct argument *a)
{
	struct torch_values values = tensors_list(list);
	struct argument *items =
		arena_take(r->wish->arena, (values.count + 1) * sizeof(*items));

	a->kind = ARGUMENT_LIST;
	a->items = items;
	a->count = values.count;
	for (size_t i = 0; i < values.count; i++)
		if (!read_value(r, &values.items[i], &items[i]))
			return false;
	return true;
}

/* An object holds the std::string after its vtable and its reference counts. */
static const char *text_of(struct reading *r, const struct torch_value *value)
{
	const char *text;
	char *copy;

	memcpy(&text, (const char *)value->object + torch.layout->in_object,
	       sizeof(text));
	copy = arena_take(r->wish->arena, strlen(text) + 1);
	memcpy(copy, text, strlen(text) + 1);
	return copy;
}

static bool read_value(struct reading *r, const struct torch_value *value,
		       struct argument *a)
{
	memset(a, 0, sizeof(*a));
	switch (tensors_kind(value)) {
	case VALUE_NONE:
	case VALUE_GENERATOR: return true;
	case VALUE_TENSOR: return read_tensor(r, tensors_of(value), a);
	case VALUE_DOUBLE:
		r->is_any_known |= r->is_partly;
		a->kind = ARGUMENT_REAL;
		a->real = value->real;
		return true;
	case VALUE_INT:
		r->is_any_known |= r->is_partly;
		a->kind = ARGUMENT_INT;
		a->number = value->number;
		return true;
	case VALUE_BOOL:
		r->is_any_known |= r->is_partly;
		a->kind = ARGUMENT_BOOL;
		a->number = value->truth;
		return true;
	case VALUE_STRING:
		a->kind = ARGUMENT_TEXT;
		a->text = text_of(r, value);
		return true;
	case VALUE_DEVICE: a->kind = ARGUMENT_DEVICE; return true;
	case VALUE_LIST: return read_list(r, value, a);
	default: return false;
	}
}

static bool is_among(size_t i, uint32_t bits)
{
	return i < 32 && bits >> i & 1;
}

static const struct argument *read_all(struct reading *r,
				       struct torch_values values)
{
	struct argument *all =
		arena_take(r->wish->arena, (values.count + 1) * sizeof(*all));

	for (size_t i = 0; i < values.count; i++) {
		r->is_partly = is_among(i, r->wish->of.partly);
		r->reads = is_among(i, r->wish->of.unread)     ? UNREAD
			   : is_among(i, r->wish->of.if_known) ? READ_IF_KNOWN
							       : READ;
		if (!read_value(r, &values.items[i], &all[i]))
			return NULL;
	}
	return all;
}

const struct argument *arguments_read(struct torch_values values,
				      const struct arguments_wish *wish,
				      bool *is_drawn)
{
	struct reading r = { .wish = wish };
	const struct argument *all = read_all(&r, values);

	*is_drawn = r.is_drawn;
	return all;
}

const struct argument *arguments_suppose(struct torch_values values,
					 const struct arguments_wish *wish,
					 bool truth)
{
	struct reading r = {
		.wish = wish,
		.otherwise = truth ? SUPPOSED_TRUE : SUPPOSED_FALSE,
	};
	const struct argument *all = read_all(&r, values);

	return r.is_any_known ? all : NULL;
}

const struct argument *arguments_guess(struct torch_values values,
				       const struct arguments_wish *wish)
{
	struct reading r = { .wish = wish, .otherwise = AS_READ };

	return read_all(&r, values);
}

const struct argument *arguments_follow(struct torch_values values,
					const struct arguments_wish *wish)
{
	struct arguments_wish all_of_them = *wish;
	struct reading r = { .wish = &all_of_them, .otherwise = AS_READ };
	const struct argument *all;

	all_of_them.of.takes_as_read = true;
	all = has_guessed ? read_all(&r, values) : NULL;
	return r.is_guess ? all : NULL;
}
