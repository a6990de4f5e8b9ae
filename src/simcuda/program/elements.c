/* SPDX-License-Identifier: MIT */
#include "simcuda/program/elements.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ncclDataType_t of nccl.h */
enum type {
	INT8,
	UINT8,
	INT32,
	UINT32,
	INT64,
	UINT64,
	FLOAT16,
	FLOAT32,
	FLOAT64,
	BFLOAT16,
	FLOAT8_E4M3,
	FLOAT8_E5M2,
	TYPES,
};
enum op { SUM, PRODUCT, MAXIMUM, MINIMUM, AVERAGE };

static bool is_type(int type)
{
	return type >= 0 && type < TYPES;
}

size_t elements_bytes(int type)
{
	static const unsigned char sizes[TYPES] = { 1, 1, 4, 4, 8, 8,
						    2, 4, 8, 2, 1, 1 };

	return is_type(type) ? sizes[type] : 0;
}

/* ---- small floating-point formats: bits of exponent and mantissa ---- */

struct format {
	int bytes, exponent, mantissa;
};

static const struct format *format_of(int type)
{
	static const struct format formats[TYPES] = {
		[FLOAT16] = { 2, 5, 10 },
		[BFLOAT16] = { 2, 8, 7 },
		[FLOAT8_E4M3] = { 1, 4, 3 },
		[FLOAT8_E5M2] = { 1, 5, 2 },
	};

	return is_type(type) && formats[type].bytes ? &formats[type] : NULL;
}

static double power_of_two(int exponent)
{
	double x = 1;

	for (; exponent > 0; exponent--)
		x *= 2;
	for (; exponent < 0; exponent++)
		x /= 2;
	return x;
}

static double widened(const struct format *f, uint32_t bits)
{
	int bias = (1 << (f->exponent - 1)) - 1;
	uint32_t mantissa = bits & ((1U << f->mantissa) - 1);
	int exponent = (int)(bits >> f->mantissa) & ((1 << f->exponent) - 1);
	double x = mantissa / power_of_two(f->mantissa) + (exponent != 0);

	x *= power_of_two((exponent ? exponent : 1) - bias);
	return bits >> (f->exponent + f->mantissa) & 1 ? -x : x;
}

/* Rounds to nearest; values that are too large become infinity, or the first
 * value of the largest exponent. */
static uint32_t narrowed(const struct format *f, double x)
{
	uint32_t sign = x < 0 ? 1U << (f->exponent + f->mantissa) : 0;
	int bias = (1 << (f->exponent - 1)) - 1, exponent = 1;
	int most = (1 << f->exponent) - 1;
	uint32_t bits;

	x = x < 0 ? -x : x;
	for (; exponent < most && x >= power_of_two(exponent + 1 - bias);)
		exponent++;
	if (exponent == most)
		return sign | (uint32_t)most << f->mantissa;
	bits = (uint32_t)(x / power_of_two(exponent - bias - f->mantissa) +
			  0.5);
	return sign | (bits + ((uint32_t)(exponent - 1) << f->mantissa));
}

/* ---- elements ---- */

#define COMBINE(a, b, op)                                                      \
	((op) == PRODUCT   ? (a) * (b)                                         \
	 : (op) == MAXIMUM ? ((b) > (a) ? (b) : (a))                           \
	 : (op) == MINIMUM ? ((b) < (a) ? (b) : (a))                           \
			   : (a) + (b))

#define REDUCER(name, element, wide)                                           \
	static void name(char *sum, const char *with, int op)                  \
	{                                                                      \
		element a, b;                                                  \
                                                                               \
		memcpy(&a, sum, sizeof(a));                                    \
		memcpy(&b, with, sizeof(b));                                   \
		a = (element)COMBINE((wide)a, (wide)b, op);                    \
		memcpy(sum, &a, sizeof(a));                                    \
	}
/* Types in which no integer overflow is undefined, and which compare with the
 * right sign. */
REDUCER(int8, int8_t, int32_t)
REDUCER(uint8, uint8_t, uint32_t)
REDUCER(uint32, uint32_t, uint64_t)
REDUCER(uint64, uint64_t, uint64_t)
REDUCER(float32, float, float)
REDUCER(float64, double, double)

/* Sums are computed without a sign, so that overflow is defined. */
#define SIGNED_REDUCER(name, element, unsigned_reducer)                        \
	static void name(char *sum, const char *with, int op)                  \
	{                                                                      \
		element a, b;                                                  \
                                                                               \
		if (op != MAXIMUM && op != MINIMUM) {                          \
			unsigned_reducer(sum, with, op);                       \
			return;                                                \
		}                                                              \
		memcpy(&a, sum, sizeof(a));                                    \
		memcpy(&b, with, sizeof(b));                                   \
		if ((b > a) == (op == MAXIMUM))                                \
			memcpy(sum, with, sizeof(b));                          \
	}
SIGNED_REDUCER(int32, int32_t, uint32)
SIGNED_REDUCER(int64, int64_t, uint64)

static double small(const struct format *f, const char *from)
{
	uint16_t bits = 0;

	memcpy(&bits, from, (size_t)f->bytes);
	return widened(f, bits);
}

static void put_small(const struct format *f, char *to, double x)
{
	uint16_t bits = (uint16_t)narrowed(f, x);

	memcpy(to, &bits, (size_t)f->bytes);
}

void elements_reduce(void *sum, const void *with, size_t count, int type,
		     int op)
{
	static void (*const reducers[TYPES])(char *, const char *, int) = {
		[INT8] = int8,	     [UINT8] = uint8,	  [INT32] = int32,
		[UINT32] = uint32,   [INT64] = int64,	  [UINT64] = uint64,
		[FLOAT32] = float32, [FLOAT64] = float64,
	};
	size_t step = elements_bytes(type);
	const char *from = with;
	char *to = sum;

	for (size_t i = 0; step && i < count; i++, to += step, from += step) {
		const struct format *f = format_of(type);
		double a, b;

		if (!f) {
			reducers[type](to, from, op);
			continue;
		}
		a = small(f, to);
		b = small(f, from);
		put_small(f, to, COMBINE(a, b, op));
	}
}

/* Averages: of floating-point numbers, or of integers, rounded down. */
static void divide(char *at, int type, int by)
{
	const struct format *f = format_of(type);
	uint64_t whole = 0;
	double number;
	float single;

	switch (type) {
	case FLOAT32:
		memcpy(&single, at, sizeof(single));
		single /= (float)by;
		memcpy(at, &single, sizeof(single));
		return;
	case FLOAT64:
		memcpy(&number, at, sizeof(number));
		number /= by;
		memcpy(at, &number, sizeof(number));
		return;
	default: break;
	}
	if (f) {
		put_small(f, at, small(f, at) / by);
		return;
	}
	memcpy(&whole, at, elements_bytes(type));
	whole /= (uint64_t)by;
	memcpy(at, &whole, elements_bytes(type));
}

void elements_finish(void *sum, size_t count, int type, int op, int ranks)
{
	char *at = sum;

	for (size_t i = 0; op == AVERAGE && i < count; i++)
		divide(at + i * elements_bytes(type), type, ranks);
}
