/* SPDX-License-Identifier: MIT */
/* The places are those of the wheels of PyPI on x86-64, of libstdc++. */
#include "simcuda/program/tensors.h"

#include <string.h>

#include "simcuda/memory.h"

#define FIRST_RELEASE 9
#define LAST_RELEASE  15

/* Which of these a release has is asked of a tensor: 2.9 to 2.11 the first,
 * 2.13 and later the second. */
#define LAYOUT(shift)                                                          \
	{                                                                      \
		.record_schema = 160, .record_is_schema = 192,                 \
		.record_inputs = 208, .record_outputs = 280, .scopes = 10,     \
		.storage = 16, .sizes = 64 - (shift),                          \
		.storage_offset = 152 - (shift), .numel = 160 - (shift),       \
		.dtype = 168 - (shift), .device = 170 - (shift),               \
		.keys = 176 - (shift), .storage_data = 16,                     \
		.storage_bytes = 48, .list_items = 16, .overload = 32,         \
	}

static const struct torch_layout layouts[] = { LAYOUT(0), LAYOUT(8) };

#define CPU	    0
#define CUDA	    1
/* c10::impl::SizesAndStrides: a count, then this many of each, or a pointer. */
#define INLINE_DIMS 5

static struct {
	const struct torch_layout *layout;
	uint64_t not_plain;
} torch;

bool tensors_are_known_of(unsigned release)
{
	return release >= FIRST_RELEASE && release <= LAST_RELEASE;
}

void tensors_set_not_plain(uint64_t keys)
{
	torch.not_plain = keys;
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
		1, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 1, 0, 0, 0,
		2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 4, 8,
	};

	return dtype >= 0 && (size_t)dtype < sizeof(bytes) ? bytes[dtype] : 0;
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

/* All of its storage, as bytes. */
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
	int device = at[l->device];

	memset(s, 0, sizeof(*s));
	if (!storage || !at[l->device + 2] || (device != CPU && device != CUDA))
		return false;
	s->addr = word(storage, l->storage_data);
	s->is_device = device == CUDA;
	s->numel = word(at, l->numel);
	if (s->numel && s->is_device != memory_is_device(s->addr))
		return false;
	s->dtype = at[l->dtype];
	if (dims > MOST_DIMS || !tensors_element(s->dtype) ||
	    (word(at, l->keys) & torch.not_plain)) {
		make_opaque(storage, s);
		return true;
	}
	s->dims = (int)dims;
	read_sizes(at + l->sizes, s);
	s->addr += word(at, l->storage_offset) * tensors_element(s->dtype);
	return true;
}

/* For the Python side: whether a tensor of int16_t, two rows of five that lie
 * seven apart, is read as that. */
bool simcuda_find_layout(const void *tensor, uint64_t addr);
bool simcuda_find_layout(const void *tensor, uint64_t addr)
{
	struct shape s;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		torch.layout = &layouts[i];
		if (tensors_read(tensor, &s) && !s.is_opaque && !s.is_device &&
		    s.addr == addr && s.dims == 2 && s.sizes[0] == 2 &&
		    s.sizes[1] == 5 && s.strides[0] == 7 && s.strides[1] == 1 &&
		    s.numel == 10 && s.dtype == DTYPE_SHORT)
			return true;
	}
	torch.layout = NULL;
	return false;
}

uint64_t tensors_span(const struct shape *s, uint64_t *begin)
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
	return vector((const char *)list->object + torch.layout->list_items);
}

struct torch_values tensors_inputs(const char *record)
{
	const char *at = record + torch.layout->record_inputs;

	return (struct torch_values){
		(const struct torch_value *)pointer(at, 0), word(at, 8)
	};
}

struct torch_values tensors_outputs(const char *record)
{
	return vector(record + torch.layout->record_outputs);
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
