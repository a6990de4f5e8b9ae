/* SPDX-License-Identifier: MIT */
/*
 * cuFFT: the work areas of its plans.
 *
 * What a plan asks for is cuFFT's secret.  These rules are what 20,412 plans on
 * an H100 showed of that of CUDA 13.0 (tests/gpu/workspaces.py): of one
 * dimension 96 of 100 are the same to the byte, of several nine of ten.  The
 * others are of lengths that have a kernel of their own, or have none.
 *
 * Sizes are counted in complex numbers.
 *
 * Signatures: cufftXt.h of the CUDA Toolkit 13.0.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/larger.h"
#include "simcuda/process.h"
#include "simcuda/program/stand_in.h"

#define SUCCESS	     0
#define INVALID_SIZE 8
#define MOST_RANK    3

/* cudaDataType. */
enum {
	COMPLEX_FLOAT = 4,
	COMPLEX_DOUBLE = 5,
	COMPLEX_HALF = 6,
};

/* A buffer begins at a multiple of these bytes. */
#define ALIGNMENT 1024

/* Products of sizes stay below, so that none overflows. */
#define MOST_NUMBERS (INT64_C(1) << 48)

int cufftCreate(int *plan);
int cufftCreate(int *plan)
{
	static int last;

	process_lock();
	*plan = ++last;
	process_unlock();
	return SUCCESS;
}

/* ---- numbers ---- */

struct factors {
	int64_t largest;
	int count;
	bool is_square; /* of a prime */
};

static struct factors factors_of(int64_t n)
{
	struct factors f = { .largest = 1 };
	int64_t first = 0;

	for (int64_t p = 2; n > 1; p++) {
		if (p * p > n)
			p = n;
		for (; n % p == 0; n /= p) {
			first = first ? first : p;
			f.largest = p;
			f.count++;
		}
	}
	f.is_square = f.count == 2 && first == f.largest;
	return f;
}

/* The next number from n on that has no factor above 5. */
static int64_t next_smooth(int64_t n)
{
	int64_t best = INT64_MAX;

	for (int64_t five = 1; five < 5 * n; five *= 5)
		for (int64_t three = five; three < 3 * n; three *= 3) {
			int64_t two = three;

			while (two < n)
				two *= 2;
			if (two < best)
				best = two;
		}
	return best;
}

/* ---- one dimension, as often as the batch says ---- */

/* Lengths up to here one kernel does by itself. */
static int64_t longest_alone(int64_t element)
{
	return element == 16 ? 2048 : 4096;
}

static int64_t aligned(int64_t numbers, int64_t element)
{
	return (int64_t)gp_round_up((uint64_t)numbers,
				    ALIGNMENT / (uint64_t)element);
}

/* By convolution (Bluestein's algorithm): two buffers of a length that has
 * small factors alone. */
static int64_t by_convolution(int64_t n, int64_t batch, int64_t element,
			      bool is_behind)
{
	int64_t length = n <= 4096 ? 8192 : next_smooth(2 * n - 1);

	return 2 * aligned(length * batch + is_behind, element);
}

static int64_t complex_one(int64_t n, int64_t batch, int64_t element)
{
	struct factors f = factors_of(n);

	if (f.largest > 127)
		return n <= longest_alone(element)
			       ? 0
			       : by_convolution(n, batch, element, false);
	if (n >= (element == 4 ? 16384 : 32768))
		return n == 32768 && batch >= 128 ? 0 : n * batch;
	if (f.largest > 31)
		return f.count > 1 ? n * batch : 0;
	if (f.largest > 7)
		return n > 4096 ? n * batch : 0;
	return n > 16384 && f.largest == 7 ? n * batch : 0;
}

/* As complex numbers of half the length. */
static int64_t even_one(int64_t n, int64_t batch, int64_t element)
{
	struct factors f = factors_of(n);
	int64_t half = n / 2, longest = longest_alone(element);

	if (f.largest > 127 && half > longest)
		return half * batch +
		       by_convolution(half, batch, element, true);
	if (f.largest > 127)
		return half * batch +
		       (n > longest ? aligned(half * batch, element) : 0);
	if (f.largest == 2 && (n < (element == 16 ? 8192 : 32768) ||
			       (n == 65536 && batch >= 128)))
		return 0;
	if (n < 1100 && f.largest <= 11)
		return 0;
	return (half + (complex_one(half, batch, element) > 0)) * batch;
}

/* Two of the batch at once, as one of complex numbers. */
static int64_t odd_one(int64_t n, int64_t batch, int64_t element)
{
	struct factors f = factors_of(n);
	int64_t numbers = n * ((batch + 1) / 2);

	if (f.largest > 127 && n > longest_alone(element))
		return numbers +
		       by_convolution(n, (batch + 1) / 2, element, true);
	if ((f.count <= 1 && f.largest <= 127) ||
	    (f.largest <= 11 && n < 1100) || (f.is_square && f.largest <= 31))
		return 0;
	return numbers + aligned(numbers, element);
}

/* ---- several ---- */

/* A dimension that is not the last one is walked in strides, which long ones
 * of some factors are not. */
static int64_t in_strides(int64_t n, int64_t batch, int64_t element)
{
	bool is_copied = n > 1024 && (n % 7 == 0 || n % 15 == 0) &&
			 factors_of(n).largest <= 7;

	return is_copied ? n * batch : complex_one(n, batch, element);
}

/* What the dimension asks for that needs most; they come one after another. */
static int64_t numbers_of(const long long *sizes, int rank, int64_t batch,
			  int64_t element, bool is_real)
{
	int64_t last = sizes[rank - 1], all = batch, kept, most;

	for (int i = 0; i < rank - 1; i++)
		all *= sizes[i];
	if (!is_real)
		most = complex_one(last, all, element);
	else if (last % 2)
		most = odd_one(last, all, element);
	else
		most = even_one(last, all, element);
	kept = all * (is_real ? last / 2 + 1 : last);
	for (int i = 0; i < rank - 1; i++) {
		int64_t one = in_strides(sizes[i], kept / sizes[i], element);

		most = one > most ? one : most;
	}
	return most;
}

static int64_t element_of(int type)
{
	switch (type) {
	case COMPLEX_FLOAT: return 8;
	case COMPLEX_DOUBLE: return 16;
	case COMPLEX_HALF: return 4;
	default: return 0;
	}
}

static bool are_sizes(const long long *sizes, int rank, int64_t batch)
{
	int64_t all = batch;

	if (rank < 1 || rank > MOST_RANK || batch < 1)
		return false;
	for (int i = 0; i < rank; i++) {
		if (sizes[i] < 1 || sizes[i] > MOST_NUMBERS / all)
			return false;
		all *= sizes[i];
	}
	return true;
}

int cufftXtMakePlanMany(int plan, int rank, long long *sizes, long long *inputs,
			long long input_stride, long long input_distance,
			int input_type, long long *outputs,
			long long output_stride, long long output_distance,
			int output_type, long long batch, size_t *work,
			int type);
int cufftXtMakePlanMany(int plan, int rank, long long *sizes, long long *inputs,
			long long input_stride, long long input_distance,
			int input_type, long long *outputs,
			long long output_stride, long long output_distance,
			int output_type, long long batch, size_t *work,
			int type)
{
	int64_t element = element_of(type);

	(void)plan, (void)inputs, (void)input_stride, (void)input_distance;
	(void)outputs, (void)output_stride, (void)output_distance;
	*work = 0;
	if (!are_sizes(sizes, rank, batch) || !element)
		return INVALID_SIZE;
	*work = (size_t)(element *
			 numbers_of(sizes, rank, batch, element,
				    input_type != type || output_type != type));
	stand_in_measured(__func__);
	return SUCCESS;
}
