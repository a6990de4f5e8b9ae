/* SPDX-License-Identifier: MIT */
#include "simcuda/program/draws.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "simcuda/kept.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/tensors.h"

#define MIB ((uint64_t)1 << 20)
#define TIB ((uint64_t)1 << 40)

/* The computation must cost little compared with the program itself. */
static const struct draws_policy known = {
	.follows = true,
	.most = MIB,
	.most_real = MIB / 16,
	.most_decisive = MIB,
};
static const struct draws_policy drawn = {
	.follows = true,
	.draws = true,
	.most = 16 * MIB,
	.most_real = MIB,
	.most_decisive = 64 * MIB,
};
static const struct draws_policy all_of_them = {
	.follows = true,
	.draws = true,
	.most = TIB,
	.most_real = TIB,
	.most_decisive = TIB,
};
static const struct draws_policy nothing = { .follows = false };

static struct {
	const struct draws_policy *policy;
	pthread_mutex_t lock;
	struct gp_rng rng, generators;
} draws = { .policy = &known, .lock = PTHREAD_MUTEX_INITIALIZER };

void draws_choose(const char *values, const char *rank)
{
	static const char with_seed[] = "drawn:";

	if (values && !strcmp(values, "0")) {
		draws.policy = &nothing;
	} else if (values && !strcmp(values, "all")) {
		draws.policy = &all_of_them;
		kept_set_limits(&(struct kept_limits){ TIB, TIB / 2 });
	} else if (values && !strncmp(values, with_seed, strlen(with_seed))) {
		draws.policy = &drawn;
		draws.rng.state =
			strtoull(values + strlen(with_seed), NULL, 10);
		kept_set_limits(&(struct kept_limits){ 64 * MIB, 1024 * MIB });
	}
	draws.generators.state = draws.rng.state ^
				 gp_hash64(rank ? strtoull(rank, NULL, 10) : 0);
}

const struct draws_policy *draws_policy(void)
{
	return draws.policy;
}

/* ---- the place of a thread's draws ---- */

struct part {
	uint64_t id;
	struct gp_map begun; /* operator -> how often it began */
	struct draws_place before;
	struct part *outer;
};

static _Thread_local struct part *inside;
static _Thread_local struct draws_place here;

struct draws_place *draws_place(void)
{
	return &here;
}

uint64_t simcuda_draws_part(void)
{
	return draws_seed(&here) | 1;
}

void simcuda_draws_enter(uint64_t id)
{
	struct part *part = gp_mem_alloc(1, sizeof(*part));

	*part = (struct part){ .id = id, .before = here, .outer = inside };
	inside = part;
	here = (struct draws_place){ .of = id };
}

/* If a function raised an exception, its part may be left late, or together
 * with its outer part. */
void simcuda_draws_leave(uint64_t id)
{
	const struct part *of = inside;

	while (of && of->id != id)
		of = of->outer;
	while (of) {
		struct part *part = inside;

		if (part == of)
			of = NULL;
		inside = part->outer;
		here = part->before;
		gp_map_release(&part->begun);
		free(part);
	}
}

void draws_begin(uint64_t operator)
{
	uint32_t times;

	if (!inside)
		return;
	times = gp_map_get(&inside->begun, operator) + 1; /* from NONE to 0 */
	gp_map_put(&inside->begun, operator, times);
	here = (struct draws_place){
		.of = gp_hash64(inside->id ^ gp_hash64(operator+ times)) | 1
	};
}

void draws_end(struct draws_place before)
{
	here = before;
}

/* ---- seeds ---- */

uint64_t draws_seed(struct draws_place *place)
{
	uint64_t seed;

	if (place->of)
		return gp_hash64(place->of + ++place->taken);
	pthread_mutex_lock(&draws.lock);
	seed = gp_rng_next(&draws.rng);
	pthread_mutex_unlock(&draws.lock);
	return seed;
}

#define CHOOSE_SEED "_ZN3c106detail25getNonDeterministicRandomEb"

/* PyTorch calls this function by its symbol, which is found here first.
 * PyTorch's own version asks the system for a random number; here it is the
 * same in each run, different for each rank, and of 53 bits, as PyTorch uses
 * for devices. */
uint64_t choose_seed(bool is_cuda) __asm__(CHOOSE_SEED);
uint64_t choose_seed(bool is_cuda)
{
	uint64_t seed;

	(void)is_cuda;
	pthread_mutex_lock(&draws.lock);
	seed = gp_rng_next(&draws.generators);
	pthread_mutex_unlock(&draws.lock);
	return seed >> 11;
}

/* ---- numbers ---- */

/* The sum of four uniform numbers is close enough to normal, and needs no
 * logarithm. Mean 0, variance 1. */
static float normal(struct gp_rng *rng)
{
	static const float scale = 1.7320508f / 65536; /* sqrt(3) */
	uint64_t bits = gp_rng_next(rng);
	float sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (float)(bits >> 16 * i & 0xffff);
	return (sum - 2 * 65535.0f) * scale;
}

static void put(int dtype, float real, uint64_t bits, char *to)
{
	size_t size = tensors_element(dtype);
	double wide = real;

	if (dtype == DTYPE_DOUBLE)
		memcpy(to, &wide, size);
	else if (dtype == DTYPE_FLOAT)
		memcpy(to, &real, size);
	else if (dtype == DTYPE_BFLOAT16)
		memcpy(to, (char *)&real + 2, size);
	else if (dtype == DTYPE_HALF)
		tensors_half(real, to);
	else
		/* All that is known of integers is that some are indices: 0 or
		 * 1. */
		*to = (char)(bits & 1);
}

void draws_fill(int dtype, uint64_t count, void *to)
{
	bool is_complex =
		dtype == DTYPE_COMPLEX || dtype == DTYPE_COMPLEX_DOUBLE;
	struct gp_rng rng = { draws_seed(&here) };
	char *at = to;
	size_t size;

	if (is_complex) {
		dtype = dtype == DTYPE_COMPLEX ? DTYPE_FLOAT : DTYPE_DOUBLE;
		count *= 2;
	}
	size = tensors_element(dtype);
	memset(to, 0, count * size);
	for (uint64_t i = 0; i < count; i++, at += size)
		if (tensors_is_real(dtype))
			put(dtype, normal(&rng), 0, at);
		else
			put(dtype, 0, gp_rng_next(&rng), at);
}

void draws_fill_scalar(int dtype, void *to)
{
	struct gp_rng rng = { draws_seed(&here) };
	uint64_t bits = gp_rng_next(&rng);
	float real = fabsf(normal(&rng));

	memset(to, 0, tensors_element(dtype));
	/* A single truth about many values, such as whether any is NaN, is
	 * false. */
	if (dtype != DTYPE_BOOL)
		put(dtype, real, bits, to);
}

void draws_say(const char *number, int dtype, void *to)
{
	double real = strtod(number, NULL);
	float single = (float)real;
	int64_t whole = dtype == DTYPE_BOOL ? real != 0 : (int64_t)real;

	memset(to, 0, tensors_element(dtype));
	if (dtype == DTYPE_DOUBLE || dtype == DTYPE_COMPLEX_DOUBLE)
		memcpy(to, &real, sizeof(real));
	else if (dtype == DTYPE_FLOAT || dtype == DTYPE_COMPLEX)
		memcpy(to, &single, sizeof(single));
	else if (dtype == DTYPE_BFLOAT16)
		memcpy(to, (char *)&single + 2, 2);
	else if (dtype == DTYPE_HALF)
		tensors_half(single, to);
	else if (tensors_element(dtype) <= sizeof(whole))
		memcpy(to, &whole, tensors_element(dtype));
}
