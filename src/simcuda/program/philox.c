/* SPDX-License-Identifier: MIT */
#include "simcuda/program/philox.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "simcuda/device.h"
#include "simcuda/memory.h"
#include "simcuda/program/torch.h"

#define BLOCK 256 /* threads */

/* ---- the generator ---- */

/* Members of at::CUDAGeneratorImpl, and the function that gives a device's
 * default generator. */
#define SEED	"_ZNK2at17CUDAGeneratorImpl12current_seedEv"
#define OFFSET	"_ZNK2at17CUDAGeneratorImpl24philox_offset_per_threadEv"
#define DEFAULT "_ZN2at4cuda6detail23getDefaultCUDAGeneratorEa"

static struct {
	pthread_once_t once;
	uint64_t (*seed)(const void *impl);
	uint64_t (*offset)(const void *impl);
	const void *const *(*own)(signed char device);
} torch = { .once = PTHREAD_ONCE_INIT };

/* If there is a tensor on a device, the library is loaded. */
static void find_members(void)
{
	*(void **)&torch.seed = torch_symbol("torch_cuda", SEED);
	*(void **)&torch.offset = torch_symbol("torch_cuda", OFFSET);
	*(void **)&torch.own = torch_symbol("torch_cuda", DEFAULT);
}

static uint64_t blocks_at_once(const struct gp_gpu_properties *p)
{
	return (uint64_t)p->multiprocessors *
	       (uint64_t)(properties_threads(p) / BLOCK);
}

struct generator generator_read(const void *impl, uint64_t addr)
{
	struct generator g = { .is_known = false };
	int device;

	pthread_once(&torch.once, find_members);
	if (!torch.seed || !torch.offset || !torch.own)
		return g;
	process_lock();
	device = memory_device_of(addr);
	g.blocks = blocks_at_once(properties_of(device));
	process_unlock();
	impl = impl ? impl : *torch.own((signed char)device);
	g.seed = torch.seed(impl);
	g.offset = torch.offset(impl);
	g.is_known = true;
	return g;
}

/* ---- Philox4x32-10 (Salmon et al. 2011) ---- */

static void multiply(uint32_t a, uint32_t b, uint32_t *high, uint32_t *low)
{
	uint64_t product = (uint64_t)a * b;

	*high = (uint32_t)(product >> 32);
	*low = (uint32_t)product;
}

static void philox_of(uint64_t seed, uint64_t counter, uint64_t thread,
		      int rounds, uint32_t n[4])
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	uint32_t high[2], low[2];

	n[0] = (uint32_t)counter;
	n[1] = (uint32_t)(counter >> 32);
	n[2] = (uint32_t)thread;
	n[3] = (uint32_t)(thread >> 32);
	for (int round = 0; round < rounds; round++) {
		multiply(0xd2511f53, n[0], &high[0], &low[0]);
		multiply(0xcd9e8d57, n[2], &high[1], &low[1]);
		n[0] = high[1] ^ n[1] ^ key[0];
		n[1] = low[1];
		n[2] = high[0] ^ n[3] ^ key[1];
		n[3] = low[0];
		key[0] += 0x9e3779b9;
		key[1] += 0xbb67ae85;
	}
}

static void philox(uint64_t seed, uint64_t counter, uint64_t thread,
		   uint32_t n[4])
{
	philox_of(seed, counter, thread, 10, n);
}

/* ---- numbers made from four words: curand_uniform.h, curand_normal.h ---- */

#define PI 3.14159265358979323846

union number {
	uint64_t bits;
	float real;
	double wide_real;
};

static float uniform(uint32_t n)
{
	return (float)n * 0x1p-32f + 0x1p-33f;
}

static uint64_t of_53_bits(const uint32_t n[2])
{
	return n[0] ^ (uint64_t)n[1] << 21;
}

static double wide_uniform(const uint32_t n[2])
{
	return (double)of_53_bits(n) * 0x1p-53 + 0x1p-54;
}

static void make_bits(const uint32_t n[4], uint64_t range, union number to[4])
{
	for (int i = 0; i < 4; i++)
		to[i].bits = n[i] % range;
}

static void make_wide_bits(const uint32_t n[4], uint64_t range,
			   union number to[2])
{
	for (int i = 0; i < 2; i++)
		to[i].bits = ((uint64_t)n[2 * i] << 32 | n[2 * i + 1]) % range;
}

static void make_uniform(const uint32_t n[4], uint64_t range,
			 union number to[4])
{
	(void)range;
	for (int i = 0; i < 4; i++)
		to[i].real = uniform(n[i]);
}

static void make_wide_uniform(const uint32_t n[4], uint64_t range,
			      union number to[2])
{
	(void)range;
	for (int i = 0; i < 2; i++)
		to[i].wide_real = wide_uniform(n + 2 * i);
}

static void make_normal(const uint32_t n[4], uint64_t range, union number to[4])
{
	float angle, length;

	(void)range;
	for (int i = 0; i < 4; i += 2) {
		angle = (float)n[i + 1] * (float)(0x1p-32 * 2 * PI) +
			(float)(0x1p-33 * 2 * PI);
		length = sqrtf(-2 * logf(uniform(n[i])));
		to[i].real = length * sinf(angle);
		to[i + 1].real = length * cosf(angle);
	}
}

static void make_wide_normal(const uint32_t n[4], uint64_t range,
			     union number to[2])
{
	double angle = (double)of_53_bits(n + 2) * 0x1p-52 + 0x1p-53;
	double length = sqrt(-2 * log(wide_uniform(n)));

	(void)range;
	to[0].wide_real = length * sin(angle * PI);
	to[1].wide_real = length * cos(angle * PI);
}

static const struct maker {
	void (*make)(const uint32_t n[4], uint64_t range, union number to[]);
	size_t size;
	uint64_t count; /* made from four words */
} makers[] = {
	[RANDOM_BITS] = { make_bits, sizeof(int64_t), 4 },
	[RANDOM_WIDE_BITS] = { make_wide_bits, sizeof(int64_t), 2 },
	[RANDOM_UNIFORM] = { make_uniform, sizeof(float), 4 },
	[RANDOM_WIDE_UNIFORM] = { make_wide_uniform, sizeof(double), 2 },
	[RANDOM_NORMAL] = { make_normal, sizeof(float), 4 },
	[RANDOM_WIDE_NORMAL] = { make_wide_normal, sizeof(double), 2 },
};

/* ---- the distribution over threads ---- */

/* The elements that a thread computes from one counter. */
struct share {
	uint64_t first, step, count;
};

static struct share share_of(const struct random_numbers *r, uint64_t threads,
			     uint64_t turn, uint64_t thread)
{
	uint64_t each = makers[r->kind].count, turns, first;

	if (!r->neighbours)
		return (struct share){ turn * threads * each + thread, threads,
				       each };
	/* More neighbours than a counter gives take several turns. */
	turns = (r->neighbours + each - 1) / each;
	first = (turn / turns * threads + thread) * r->neighbours;
	return (struct share){ first + turn % turns * each, 1,
			       turns > 1 ? each : r->neighbours };
}

static void put_share(const struct random_numbers *r, struct share share,
		      const union number *made, char *to)
{
	size_t size = makers[r->kind].size;
	uint64_t at = share.first;

	for (uint64_t i = 0; i < share.count && at < r->count; i++) {
		memcpy(to + at * size, &made[i], size);
		at += share.step;
	}
}

uint64_t random_numbers(const struct generator *generator,
			const struct random_numbers *r, void *to)
{
	uint64_t blocks = (r->count + BLOCK - 1) / BLOCK;
	uint64_t threads, turn;
	uint32_t n[4];
	union number made[4];
	struct share share;

	if (!r->is_alone && blocks > generator->blocks)
		blocks = generator->blocks;
	threads = r->is_one ? 1 : blocks * BLOCK;
	for (turn = 0; share_of(r, threads, turn, 0).first < r->count; turn++)
		for (uint64_t thread = 0; thread < threads; thread++) {
			share = share_of(r, threads, turn, thread);
			if (share.first >= r->count)
				break;
			philox(generator->seed, generator->offset / 4 + turn,
			       r->thread + thread, n);
			makers[r->kind].make(n, r->range, made);
			put_share(r, share, made, to);
		}
	return turn;
}

/* ---- attention ---- */

/* A warp processes tiles of a matrix. Each thread has the elements that the
 * tensor cores assign to it (mma.m16n8k16): two neighbours in a row, and those
 * eight rows below, in every eighth column. */
enum { WARP = 32, TILE_ROWS = 16, TILE_COLUMNS = 32, FLASH_ROUNDS = 7 };

static void put_in_tile(const struct flash_weights *w, uint64_t row,
			uint64_t column, unsigned lane, const uint32_t n[4],
			unsigned char *matrix)
{
	for (unsigned i = 0; i < 16; i++) {
		uint64_t r = row + lane / 4 + i / 2 % 2 * 8;
		uint64_t c = column + i / 4 * 8 + lane % 4 * 2 + i % 2;

		if (r < w->queries && c < w->keys)
			matrix[r * w->keys + c] =
				(unsigned char)(n[i / 4] >> i % 4 * 8);
	}
}

static void fill_matrix(const struct generator *generator,
			const struct flash_weights *w, unsigned char *matrix)
{
	uint32_t n[4];

	for (uint64_t row = 0; row < w->queries; row += TILE_ROWS)
		for (uint64_t column = 0; column < w->keys;
		     column += TILE_COLUMNS)
			for (unsigned lane = 0; lane < WARP; lane++) {
				philox_of(generator->seed,
					  generator->offset + lane,
					  row / TILE_ROWS |
						  column / TILE_COLUMNS << 32,
					  FLASH_ROUNDS, n);
				put_in_tile(w, row, column, lane, n, matrix);
			}
}

void random_flash(const struct generator *generator,
		  const struct flash_weights *w, unsigned char *to)
{
	struct generator of_matrix = *generator;

	for (uint64_t i = 0; i < w->matrices; i++) {
		fill_matrix(&of_matrix, w, to + i * w->queries * w->keys);
		of_matrix.offset += WARP;
	}
}
