/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's tensors, and the arguments and results of its operators, read where
 * a release keeps them.
 */
#ifndef SIMCUDA_PROGRAM_TENSORS_H
#define SIMCUDA_PROGRAM_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_DIMS 8

/* A dense tensor: where its elements are. */
struct shape {
	uint64_t addr; /* of its first element */
	bool is_device;
	/* Its elements cannot be read, as those of a subclass or of a complex
	 * tensor; addr and numel are the bytes that they lie in. */
	bool is_opaque;
	int dtype; /* c10::ScalarType */
	int dims;
	uint64_t numel;
	int64_t sizes[MOST_DIMS], strides[MOST_DIMS];
};

/* at::RecordFunction's and other members' places. */
struct torch_layout {
	uint16_t record_schema, record_is_schema, record_sequence;
	uint16_t record_inputs, record_outputs, record_thread;
	uint8_t scopes; /* of at::RecordFunctionCallback: how many */
	uint8_t storage, sizes, storage_offset, numel, dtype, keys;
	uint8_t device, has_device, storage_data, storage_bytes;
	uint8_t in_object, overload; /* of a list or a text, of a name */
};
/* 2.x; false: it is not known. */
bool tensors_set_release(unsigned release);
/* NULL: no tensor was read as it is. */
const struct torch_layout *tensors_layout(void);

/* Functionality of PyTorch that has other elements than memory does: bits of
 * c10::DispatchKeySet, from the first of them on.  Once the layout is known. */
void tensors_set_not_plain(uint64_t keys);

/* False: it is none that has memory on a device or here. */
bool tensors_read(const void *tensor, struct shape *shape);
/* Of a sparse one, c10's SparseTensorImpl: its indices, a row for each of its
 * sparse dimensions; NULL: it has none. */
const void *tensors_indices(const void *tensor);
/* Bytes of an element; 0: of no type that is read here. */
size_t tensors_element(int dtype);
bool tensors_is_real(int dtype);
/* The nearest number of 16 bits that is not larger. */
void tensors_half(float value, void *to);

/* c10::ScalarType. */
enum {
	DTYPE_BYTE = 0,
	DTYPE_SHORT = 2,
	DTYPE_INT = 3,
	DTYPE_LONG = 4,
	DTYPE_HALF = 5,
	DTYPE_FLOAT = 6,
	DTYPE_DOUBLE = 7,
	DTYPE_COMPLEX = 9,
	DTYPE_COMPLEX_DOUBLE = 10,
	DTYPE_BOOL = 11,
	DTYPE_BFLOAT16 = 15,
};

/* c10::IValue. */
enum value_kind {
	VALUE_NONE = 0,
	VALUE_TENSOR = 1,
	VALUE_DOUBLE = 3,
	VALUE_INT = 5,
	VALUE_BOOL = 10,
	VALUE_STRING = 12,
	VALUE_LIST = 14,
	VALUE_DEVICE = 18,
	VALUE_GENERATOR = 26,
};
struct torch_value {
	union {
		const void *object;
		int64_t number;
		double real;
		bool truth;
	};
	uint32_t tag, unused; /* by release */
};
enum value_kind tensors_kind(const struct torch_value *value);
struct torch_values {
	const struct torch_value *items;
	size_t count;
};
struct torch_values tensors_list(const struct torch_value *list);
/* NULL: an undefined tensor. */
const void *tensors_of(const struct torch_value *value);

struct torch_values tensors_inputs(const char *record);
struct torch_values tensors_outputs(const char *record);
/* Of the node of the backward pass: its number in the thread of its operator,
 * and of a node's own record that thread.  Negative: there is none. */
int64_t tensors_sequence(const char *record);
uint64_t tensors_forward_thread(const char *record);
/* Its operator's FunctionSchema, or NULL, and the name of that. */
const char *tensors_schema(const char *record);
const char *tensors_name(const char *schema);
const char *tensors_overload(const char *schema);

/* ---- copies of arguments and results ---- */

struct argument {
	enum {
		ARGUMENT_NONE,
		ARGUMENT_INT,
		ARGUMENT_REAL,
		ARGUMENT_BOOL,
		ARGUMENT_TEXT,
		ARGUMENT_DEVICE,
		ARGUMENT_LIST,
		ARGUMENT_TENSOR,
	} kind;
	union {
		int64_t number;
		double real;
		const char *text;
	};
	const struct argument *items; /* of a list */
	size_t count;
	struct shape shape;	    /* of a tensor */
	const unsigned char *bytes; /* its elements in order; NULL: not read */
};

/* Memory that is released at once. */
struct arena {
	struct arena_piece *first;
};
void *arena_take(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/* How an operator reads its arguments; each mask has a bit for each of them. */
struct operator_reads {
	uint32_t unread;   /* those that it reads nothing of */
	uint32_t if_known; /* those that it does without, if need be */
	uint32_t partly; /* those that may be known in part: where they are not,
			  * each bit changes a result one way only */
	bool is_decisive;   /* programs go by its result: integers or truths */
	bool is_sparse;	    /* its tensors stand for their indices */
	bool is_costly;	    /* takes longer than its elements are many */
	bool multiplies;    /* takes as long as that of two arguments */
	bool takes_as_read; /* of what nobody knows it makes what it reads */
};

struct arguments_wish {
	struct operator_reads of;
	bool counts_all; /* also what is not looked into */
	struct arena *arena;
};
/* NULL: some value is not known and none is drawn in its place, or it is of a
 * kind that is not read. */
const struct argument *arguments_read(struct torch_values values,
				      const struct arguments_wish *wish,
				      bool *is_drawn);

/* The same with a value in place of each truth that is not known, and of each
 * bit of an integer, in arguments that may be known in part; NULL also where
 * nothing at all is. */
const struct argument *arguments_suppose(struct torch_values values,
					 const struct arguments_wish *wish,
					 bool truth);

/* The same with what a program reads of what nobody knows, of one integer in a
 * tensor; NULL also where there are more or others. */
const struct argument *arguments_guess(struct torch_values values,
				       const struct arguments_wish *wish);

/* The same where any of it was guessed, as places that topk() gave: what is
 * made of that goes with it, and all else that nobody knows reads as it does.
 * NULL where nothing was. */
const struct argument *arguments_follow(struct torch_values values,
					const struct arguments_wish *wish);

/* Whether elements that are written there can be known: not where they lie
 * together in more bytes than are kept of one write. */
bool arguments_can_write(const struct shape *shape);
struct elements {
	const unsigned char *bytes; /* in their order; NULL: nothing is known */
	/* Where it is not NULL: a 1 for each of those that is known. */
	const unsigned char *known;
	bool is_drawn; /* the others: else they are not known any more */
	bool is_guess; /* they are read as that, and nobody knows them */
};
/* They go to where the tensor has them. */
void arguments_write(const struct shape *shape,
		     const struct elements *elements);
/* They are all 0, and no work for that is done that grows with their number. */
void arguments_clear(const struct shape *shape);
/* Its elements stay what they are, and are drawn from then on. */
void arguments_doubt(const struct shape *shape);
/* A truth that nobody knows reads as true; it stays one that nobody knows. */
void arguments_presume(const struct shape *shape);

#endif
