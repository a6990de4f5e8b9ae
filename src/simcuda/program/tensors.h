/* SPDX-License-Identifier: MIT */
/*
 * Reads PyTorch's tensors, and the arguments and results of operators, at the
 * offsets of each release.
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
	/* Its elements cannot be read, as for a subclass or a complex tensor;
	 * addr and numel are then those of the storage in bytes. */
	bool is_opaque;
	/* Its elements are the conjugates of those in memory, or the
	 * negatives, as of x.conj() and its imaginary part. */
	bool is_conjugated, is_negated;
	int dtype; /* c10::ScalarType */
	int dims;
	uint64_t numel;
	int64_t sizes[MOST_DIMS], strides[MOST_DIMS];
};

/* Offsets of members of at::RecordFunction and other classes. */
struct torch_layout {
	uint16_t record_schema, record_is_schema, record_sequence;
	uint16_t record_inputs, record_outputs, record_thread;
	uint8_t scopes; /* number of scopes in at::RecordFunctionCallback */
	uint8_t storage, sizes, storage_offset, numel, dtype, keys;
	uint8_t device, has_device, storage_data, storage_bytes;
	uint8_t in_object, overload; /* in a list or string; in a name */
};
/* 2.x; false: an unknown release. */
bool tensors_set_release(unsigned release);
/* NULL: no tensor has been read yet. */
const struct torch_layout *tensors_layout(void);

/* Dispatch keys under which a tensor's elements differ from its memory: bits of
 * c10::DispatchKeySet, from the first functionality on. To be called once the
 * layout is known. */
struct torch_keys {
	uint64_t not_plain, conjugated, negated;
};
void tensors_set_keys(const struct torch_keys *keys);

/* false: not a tensor with memory on a device or on the host. */
bool tensors_read(const void *tensor, struct shape *shape);
/* The indices of a sparse tensor (c10's SparseTensorImpl), a row for each
 * sparse dimension; NULL: it has none. */
const void *tensors_indices(const void *tensor);
/* Bytes of an element; 0: a type that is not read here. */
size_t tensors_element(int dtype);
bool tensors_is_real(int dtype);
/* The nearest 16-bit float that is not larger than the value. */
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
	VALUE_COMPLEX = 4,
	VALUE_INT = 5,
	VALUE_BOOL = 10,
	VALUE_STRING = 12,
	VALUE_LIST = 14,
	VALUE_DEVICE = 18,
	VALUE_STREAM = 19,
	VALUE_GENERATOR = 26,
};
struct torch_value {
	union {
		const void *object;
		int64_t number;
		double real;
		bool truth;
	};
	uint32_t tag, unused; /* meaning differs by release */
};
enum value_kind tensors_kind(const struct torch_value *value);
struct torch_values {
	const struct torch_value *items;
	size_t count;
};
struct torch_values tensors_list(const struct torch_value *list);
/* Whether it may stand for memory: an address, or an object that contains
 * tensors. Called under the lock. */
bool tensors_hide_memory(const struct torch_value *value);
/* NULL: an undefined tensor. */
const void *tensors_of(const struct torch_value *value);

struct torch_values tensors_inputs(const char *record);
struct torch_values tensors_outputs(const char *record);
/* The number of the operator's backward node within its thread; negative: it
 * has none. For the record of a backward node, also the thread of its
 * operator. */
int64_t tensors_sequence(const char *record);
uint64_t tensors_forward_thread(const char *record);
/* The operator's FunctionSchema, or NULL; and its name and overload. */
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

/* Memory that is released as a whole. */
struct arena {
	struct arena_piece *first;
};
void *arena_take(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/* How an operator reads its arguments; masks have a bit for each argument. */
struct operator_reads {
	uint32_t unread;    /* not read at all */
	uint32_t if_known;  /* may be missing */
	uint32_t partly;    /* may be known in part: an unknown bit changes a
			     * result in one direction only */
	bool is_decisive;   /* its result is integers or truths, on which
			     * programs depend */
	bool is_sparse;	    /* its sparse tensors are represented by their
			     * indices */
	bool is_costly;	    /* takes longer than reading its arguments */
	bool multiplies;    /* its time is the product of arguments' sizes */
	bool takes_as_read; /* its result agrees with what was read from an
			     * unknown argument */
};

struct arguments_wish {
	struct operator_reads of;
	bool counts_all; /* the size limit holds for unread arguments, too */
	struct arena *arena;
};
/* Reads the arguments. NULL: a value is not known and was not drawn instead, or
 * an argument has a kind that is not read. */
const struct argument *arguments_read(struct torch_values values,
				      const struct arguments_wish *wish,
				      bool *is_drawn);

/* The same, with the given value for each unknown truth, and for each unknown
 * bit of an integer, in arguments that may be known in part. NULL also if
 * nothing is known at all. */
const struct argument *arguments_suppose(struct torch_values values,
					 const struct arguments_wish *wish,
					 bool truth);

/* The same for a single unknown integer in a tensor, with the value that the
 * program reads for it. NULL also if there are more or other unknown values. */
const struct argument *arguments_guess(struct torch_values values,
				       const struct arguments_wish *wish);

/* The same if some of them were guessed, such as the places from topk():
 * results computed from these agree with the guess, and other unknown values
 * are taken as they read. NULL: none was guessed. */
const struct argument *arguments_follow(struct torch_values values,
					const struct arguments_wish *wish);

/* Whether elements written there can be known: not if they span more bytes than
 * are kept of one write. */
bool arguments_can_write(const struct shape *shape);
struct elements {
	const unsigned char *bytes; /* in order; NULL: nothing is known */
	/* If not NULL: a 1 for each known element. */
	const unsigned char *known;
	bool is_drawn; /* the others are drawn; else they become unknown */
	bool is_guess; /* the others read as these values, but are not known */
};
/* Writes the elements to where the tensor has them. */
void arguments_write(const struct shape *shape,
		     const struct elements *elements);
/* Sets all elements to 0, in a time that does not grow with their number. */
void arguments_clear(const struct shape *shape);
/* The elements keep their values, and are drawn from now on. */
void arguments_doubt(const struct shape *shape);
/* An unknown truth reads as true; it stays unknown. */
void arguments_presume(const struct shape *shape);

#endif
