/* SPDX-License-Identifier: MIT */
#include "simcuda/program/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/process.h"

/* What is computed here must cost little beside the program itself. */
#define MOST_BYTES	 ((uint64_t)1 << 20)
#define MOST_REAL_BYTES	 ((uint64_t)64 << 10)
/* More than these are forgotten together with what lies between them. */
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

/* ---- elements, in runs that lie together ---- */

struct run {
	bool (*each)(uint64_t addr, unsigned char *bytes, size_t size);
	unsigned char *bytes; /* NULL: none */
};

static bool walk(const struct shape *s, int dim, uint64_t addr, struct run *run)
{
	size_t element = tensors_element(s->dtype), size = element;

	if (dim == s->dims || (dim == s->dims - 1 && s->strides[dim] == 1)) {
		if (dim < s->dims)
			size = element * (size_t)s->sizes[dim];
		if (!run->each(addr, run->bytes, size))
			return false;
		if (run->bytes)
			run->bytes += size;
		return true;
	}
	for (int64_t i = 0; i < s->sizes[dim]; i++)
		if (!walk(s, dim + 1,
			  addr + (uint64_t)(i * s->strides[dim]) * element,
			  run))
			return false;
	return true;
}

static bool take(uint64_t addr, unsigned char *bytes, size_t size)
{
	return kept_take(addr, bytes, size);
}

static bool take_from_host(uint64_t addr, unsigned char *bytes, size_t size)
{
	memcpy(bytes, (const void *)(uintptr_t)addr, size);
	return true;
}

static bool put(uint64_t addr, unsigned char *bytes, size_t size)
{
	kept_write(addr, bytes, size);
	return true;
}

static bool forget(uint64_t addr, unsigned char *bytes, size_t size)
{
	(void)bytes;
	kept_forget(addr, size);
	return true;
}

/* Without the dimensions that the next one goes on in. */
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

void arguments_write(const struct shape *shape, const unsigned char *bytes)
{
	struct shape m = merged(shape);
	/* Read only: put does not write there. */
	struct run run = { bytes ? put : forget, (unsigned char *)bytes };
	uint64_t begin, span = tensors_span(shape, &begin);

	if (!shape->is_device || !span)
		return;
	process_lock();
	if (!bytes && (m.dims <= 1 || m.numel > MOST_SINGLE_RUNS))
		kept_forget(begin, span);
	else
		walk(&m, 0, m.addr, &run);
	process_unlock();
}

/* ---- arguments ---- */

struct reading {
	struct arena *arena;
	uint64_t bytes, real_bytes;
};

static bool is_real(int dtype)
{
	return (dtype >= 5 && dtype <= 7) || dtype == 15 || dtype > 22;
}

static bool is_little(struct reading *r, const struct shape *s)
{
	uint64_t size = s->numel * tensors_element(s->dtype);

	r->bytes += size;
	if (is_real(s->dtype))
		r->real_bytes += size;
	return r->bytes <= MOST_BYTES && r->real_bytes <= MOST_REAL_BYTES;
}

static bool read_bytes(struct reading *r, struct argument *a)
{
	struct shape m = merged(&a->shape);
	struct run run = { a->shape.is_device ? take : take_from_host, NULL };
	uint64_t begin, span = tensors_span(&a->shape, &begin);
	unsigned char *bytes;
	bool is_there;

	if (!is_little(r, &a->shape))
		return false;
	bytes = arena_take(r->arena,
			   a->shape.numel * tensors_element(a->shape.dtype));
	a->bytes = run.bytes = bytes;
	if (!a->shape.numel)
		return true;
	if (!a->shape.is_device)
		return walk(&m, 0, m.addr, &run);
	process_before_read(begin, span);
	process_lock();
	is_there = walk(&m, 0, m.addr, &run);
	process_unlock();
	return is_there;
}

static bool read_tensor(struct reading *r, const void *tensor, bool is_read,
			struct argument *a)
{
	a->kind = ARGUMENT_TENSOR;
	if (!tensors_read(tensor, &a->shape) || a->shape.is_opaque)
		return false;
	return !is_read || read_bytes(r, a);
}

static bool read_value(struct reading *r, const struct torch_value *value,
		       bool is_read, struct argument *a);

static bool read_list(struct reading *r, const struct torch_value *list,
		      bool is_read, struct argument *a)
{
	struct torch_values values = tensors_list(list);
	struct argument *items =
		arena_take(r->arena, (values.count + 1) * sizeof(*items));

	a->kind = ARGUMENT_LIST;
	a->items = items;
	a->count = values.count;
	for (size_t i = 0; i < values.count; i++)
		if (!read_value(r, &values.items[i], is_read, &items[i]))
			return false;
	return true;
}

/* A std::string is held by an object with a count, behind its functions. */
#define TEXT_IN_OBJECT 16

static const char *text_of(struct reading *r, const struct torch_value *value)
{
	const char *text;
	char *copy;

	memcpy(&text, (const char *)value->object + TEXT_IN_OBJECT,
	       sizeof(text));
	copy = arena_take(r->arena, strlen(text) + 1);
	memcpy(copy, text, strlen(text) + 1);
	return copy;
}

static bool read_value(struct reading *r, const struct torch_value *value,
		       bool is_read, struct argument *a)
{
	memset(a, 0, sizeof(*a));
	switch (value->kind) {
	case VALUE_NONE: return true;
	case VALUE_TENSOR: return read_tensor(r, tensors_of(value), is_read, a);
	case VALUE_DOUBLE:
		a->kind = ARGUMENT_REAL;
		a->real = value->real;
		return true;
	case VALUE_INT:
		a->kind = ARGUMENT_INT;
		a->number = value->number;
		return true;
	case VALUE_BOOL:
		a->kind = ARGUMENT_BOOL;
		a->number = value->truth;
		return true;
	case VALUE_STRING:
		a->kind = ARGUMENT_TEXT;
		a->text = text_of(r, value);
		return true;
	case VALUE_DEVICE: a->kind = ARGUMENT_DEVICE; return true;
	case VALUE_LIST: return read_list(r, value, is_read, a);
	default: return false;
	}
}

const struct argument *arguments_read(struct torch_values values,
				      uint32_t unread, struct arena *arena)
{
	struct reading r = { .arena = arena };
	struct argument *all =
		arena_take(arena, (values.count + 1) * sizeof(*all));

	for (size_t i = 0; i < values.count; i++)
		if (!read_value(&r, &values.items[i],
				i > 31 || !(unread >> i & 1), &all[i]))
			return NULL;
	return all;
}
