/* SPDX-License-Identifier: MIT */
/*
 * The workspace that cuDNN's plans for a Hopper ask for on the device itself.
 *
 * Planned from a description, without the device, the library chooses the same
 * engine and knobs. Two things differ, as measured with 53,456 convolutions on
 * an H100, planned by cuDNN 9.19 both with its handle and with a description of
 * the device (tests/gpu/README.md):
 *
 * cuDNN's own kernels run in clusters of blocks that process tiles of the
 * result. The tiles left for the last wave are split, and the partial sums are
 * kept in the workspace. How many blocks make a wave is found out when a handle
 * is created, with cuOccupancyMaxActiveClusters. A description has no field for
 * it, and 18 multiprocessors are assumed. So the workspace for 18 is subtracted
 * and that for the whole device is added.
 *
 * Convolutions that are matrix products are given to cuBLASLt, which needs a
 * device. Without one, the next engine is chosen.
 */
#include "record/plans.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a convolution, as described in a plan ---- */

enum direction { FORWARD, OF_DATA, OF_FILTER };

struct convolution {
	enum direction direction;
	bool is_float, is_bfloat; /* neither: half */
	bool is_channels_last, is_grouped;
	bool is_product; /* a matrix product: the filter has one element */
	int64_t images, inputs, outputs; /* channels */
	int64_t taps;			 /* elements of the filter */
	int64_t pixels_in, pixels_out;	 /* of one image */
};

/* Larger sizes are not those of a real convolution, and would overflow. */
#define MOST_DIMENSIONS 8
#define MOST_SIZE	(INT64_C(1) << 30)

static int64_t integer(const json_t *array, size_t i)
{
	return json_integer_value(json_array_get(array, i));
}

/* Product of the spatial dimensions; 0: they are not valid. */
static int64_t volume(const json_t *dims)
{
	int64_t product = 1;

	for (size_t i = 2; i < json_array_size(dims); i++) {
		int64_t size = integer(dims, i);

		if (size < 1 || size > MOST_SIZE / product)
			return 0;
		product *= size;
	}
	return product;
}

static const json_t *tensor(const json_t *graph, const json_t *node,
			    const char *role)
{
	const char *name = json_string_value(json_object_get(node, role));
	const json_t *tensors = json_object_get(graph, "tensors"), *found;
	size_t i;

	json_array_foreach((json_t *)tensors, i, found)
	{
		const char *its =
			json_string_value(json_object_get(found, "name"));

		if (name && its && !strcmp(name, its))
			return found;
	}
	return NULL;
}

static const json_t *dimensions(const json_t *of)
{
	const json_t *dims = json_object_get(of, "dim");
	size_t count = json_array_size(dims);

	return count < 3 || count > MOST_DIMENSIONS ? NULL : dims;
}

static bool all_are(const json_t *array, int64_t value)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (integer(array, i) != value)
			return false;
	return true;
}

static bool read_type(struct convolution *c, const json_t *of)
{
	const char *type = json_string_value(json_object_get(of, "dataType"));

	if (!type)
		return false;
	c->is_float = !strcmp(type, "CUDNN_DATA_FLOAT");
	c->is_bfloat = !strcmp(type, "CUDNN_DATA_BFLOAT16");
	return c->is_float || c->is_bfloat || !strcmp(type, "CUDNN_DATA_HALF");
}

static bool read_sizes(struct convolution *c, const json_t *x, const json_t *w,
		       const json_t *y)
{
	const json_t *of_x = dimensions(x), *of_w = dimensions(w),
		     *of_y = dimensions(y);

	if (!of_x || !of_w || !of_y || !read_type(c, x))
		return false;
	c->images = integer(of_x, 0);
	c->inputs = integer(of_x, 1);
	c->outputs = integer(of_y, 1);
	c->is_grouped = integer(of_w, 1) != c->inputs;
	c->is_channels_last = integer(json_object_get(x, "stride"), 1) == 1;
	c->taps = volume(of_w);
	c->pixels_in = volume(of_x);
	c->pixels_out = volume(of_y);
	return c->images > 0 && c->inputs > 0 && c->outputs > 0 && c->taps &&
	       c->pixels_in && c->pixels_out &&
	       c->images < MOST_SIZE / c->inputs &&
	       c->images < MOST_SIZE / c->pixels_in &&
	       c->images < MOST_SIZE / c->pixels_out &&
	       c->inputs < MOST_SIZE / c->taps &&
	       c->outputs < MOST_SIZE / c->taps;
}

/* false: the graph has another operation. */
static bool read_convolution(struct convolution *c, const json_t *graph)
{
	static const struct {
		const char *operation, *x, *w, *y;
	} rows[] = {
		[FORWARD] = { "FORWARD", "X", "W", "Y" },
		[OF_DATA] = { "BACKWARD_DATA", "dX", "W", "dY" },
		[OF_FILTER] = { "BACKWARD_FILTER", "X", "dW", "dY" },
	};
	const json_t *nodes = json_object_get(graph, "nodes");
	const json_t *node = json_array_get(nodes, 0);
	const char *operation =
		json_string_value(json_object_get(node, "operation"));
	const char *name = operation ? strstr(operation, "CONVOLUTION_") : NULL;

	if (!name || json_array_size(nodes) != 1)
		return false;
	name += strlen("CONVOLUTION_");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strncmp(name, rows[i].operation,
			    strlen(rows[i].operation)) != 0)
			continue;
		c->direction = (enum direction)i;
		if (!read_sizes(c, tensor(graph, node, rows[i].x),
				tensor(graph, node, rows[i].w),
				tensor(graph, node, rows[i].y)))
			return false;
		c->is_product = !c->is_grouped && c->taps == 1 &&
				all_are(json_object_get(node, "pad"), 0) &&
				all_are(json_object_get(node, "stride"), 1);
		return true;
	}
	return false;
}

/* ---- a kernel that runs in clusters ---- */

struct kernel {
	int64_t rows, columns; /* of a tile */
	int64_t cluster_rows, cluster_columns;
	bool is_never_split;
};

#define KNOB "CUDNN_KNOB_TYPE_"

/* Tile sizes by the value of their knob, deduced from the workspace sizes. */
static const struct {
	int64_t rows, columns;
} tiles[] = {
	[0] = { 128, 128 },  [1] = { 128, 64 },	 [2] = { 128, 32 },
	[3] = { 256, 128 },  [4] = { 256, 64 },	 [5] = { 64, 64 },
	[6] = { 128, 256 },  [7] = { 64, 128 },	 [8] = { 64, 32 },
	[9] = { 64, 256 },   [16] = { 256, 32 }, [18] = { 64, 192 },
	[19] = { 128, 192 }, [20] = { 256, 96 },
};

/* false: the plan is another engine's, and is the same on the device. */
static bool read_kernel(struct kernel *k, const json_t *knobs)
{
	int size, m, n, never;

	if (json_unpack((json_t *)knobs, "{s:i, s:i, s:i, s:i}",
			KNOB "TILE_SIZE", &size, KNOB "TILE_CGA_M", &m,
			KNOB "TILE_CGA_N", &n, KNOB "WORKSPACE", &never))
		return false;
	if (size < 0 || (size_t)size >= sizeof(tiles) / sizeof(*tiles) ||
	    !tiles[size].rows || m < 1 || n < 1 || m * n > 16)
		return false;
	*k = (struct kernel){
		.rows = tiles[size].rows,
		.columns = tiles[size].columns,
		.cluster_rows = m,
		.cluster_columns = n,
		.is_never_split = never,
	};
	return true;
}

/* ---- its workspace ---- */

static int64_t parts(int64_t whole, int64_t part)
{
	return (whole + part - 1) / part;
}

/* Blocks of a wave, for clusters of this size: what is assumed without the
 * device, and what the driver of an H100 SXM reports. Chips differ in which
 * multiprocessors are disabled. */
static int64_t wave_described(int64_t cluster)
{
	return 18 - 18 % cluster;
}

static int64_t wave_there(int64_t cluster)
{
	static const int64_t clusters[] = { 0, 132, 66, 39, 30, 22, 17, 15, 15,
					    9, 7,   7,	7,  7,	7,  7,	7 };

	return clusters[cluster] * cluster;
}

/* The result is a matrix; each element is a sum of `depth` products. */
static int64_t count_tiles(const struct convolution *c, const struct kernel *k,
			   int64_t *depth)
{
	int64_t rows, columns, taps = 1;

	switch (c->direction) {
	case FORWARD:
		rows = c->images * c->pixels_out;
		columns = c->outputs;
		*depth = c->inputs * c->taps;
		break;
	case OF_DATA:
		rows = c->images * c->pixels_in;
		columns = c->inputs;
		*depth = c->outputs * c->taps;
		break;
	default:
		rows = c->outputs;
		columns = c->inputs;
		taps = c->taps;
		*depth = c->images * c->pixels_out;
	}
	rows = parts(parts(rows, k->rows), k->cluster_rows);
	columns = parts(parts(columns, k->columns) * taps, k->cluster_columns);
	return rows * columns * k->cluster_rows * k->cluster_columns;
}

/* Parts are added in pairs: returns the number of levels, and in *sums the
 * number of sums in all of them. */
static int levels(int64_t count, int64_t *sums)
{
	int n = 0;

	for (*sums = 0; count > 1; n++) {
		count = parts(count, 2);
		*sums += count;
	}
	return n;
}

/*
 * How many parts each tile is split into, given room for `most`. Each further
 * part leaves a block less to do, but each level of sums costs as much as a
 * number of products. That cost was fitted to what the H100 answered; after
 * whole waves it is about a third.
 */
static int64_t choose_split(const struct convolution *c, const struct kernel *k,
			    int64_t most, int64_t depth, bool is_behind)
{
	double cost = c->is_bfloat ? (is_behind ? 1300 : 3450)
				   : (is_behind ? 150 : 440);
	double product = sqrt((double)(k->rows * k->columns)) / 128;
	int64_t steps = parts(depth, 32), deep = steps / 33, split = 1, sums;
	double least = INFINITY;

	if (deep > most)
		deep = most;
	if (deep > 8) {
		split = deep;
	} else {
		for (int64_t s = 1; s <= most && s <= 8; s++) {
			double one = (double)parts(parts(depth, 64), s) * 64 *
					     product +
				     cost * levels(s, &sums);

			if (one < least) {
				least = one;
				split = s;
			}
		}
	}
	return parts(steps, parts(steps, split));
}

/* Workspace bytes beyond those for layouts: the parts, a flag for each sum, and
 * a counter if there are more than two waves; each of them aligned. */
static int64_t of_parts(const struct convolution *c, const struct kernel *k,
			int64_t wave)
{
	int64_t depth, count = count_tiles(c, k, &depth), split, sums;
	bool has_counter = parts(count, wave) > 2;
	int64_t last = count <= wave ? count : count % wave;

	if (!k->is_never_split && last && wave / last > 1) {
		split = choose_split(c, k, wave / last, depth, count > wave);
		if (split > 1) {
			levels(split, &sums);
			return last * (split * k->rows * k->columns * 4 +
				       sums * 4) +
			       32 + 127 + 4 * has_counter;
		}
	}
	return has_counter ? 4 + 127 : 0;
}

static int64_t in_clusters(const struct convolution *c, const struct kernel *k,
			   int64_t bytes)
{
	int64_t cluster = k->cluster_rows * k->cluster_columns;
	int64_t assumed = of_parts(c, k, wave_described(cluster));

	if (bytes < assumed)
		return bytes;
	return bytes - assumed + of_parts(c, k, wave_there(cluster));
}

/* ---- a product of matrices ---- */

/* The gradients of an image take more than twice the memory of its input and
 * output. */
static bool is_wide(const struct convolution *c)
{
	double gradients = 4.0 * (double)c->inputs * (double)c->outputs;
	double copied = (double)(c->inputs + c->outputs) *
			(double)c->pixels_in * (c->is_float ? 4 : 2);

	return c->images > 4 && gradients > 2 * copied;
}

/*
 * Nine in ten matrix products go to cuBLASLt on the device. Most of the others
 * are filter gradients: those of an engine that needs no workspace, those that
 * are wide, and those of large 16-bit images.
 */
static bool is_of_cublas(const struct convolution *c, const json_t *knobs,
			 int64_t bytes)
{
	/* It is cuBLASLt's already: the machine has a device after all. */
	if (!c->is_product || (json_object_size(knobs) == 1 &&
			       json_object_get(knobs, KNOB "WORKSPACE")))
		return false;
	if (c->direction != OF_FILTER)
		return true;
	/* Then the sum is split into as many parts as without the device. */
	if (c->is_channels_last)
		return false;
	return bytes > 0 && !is_wide(c) &&
	       !(c->pixels_in > 18000 && !c->is_float);
}

/* cuBLASLt asks for almost nothing; for a filter gradient, one filter for each
 * image. */
static int64_t of_cublas(const struct convolution *c)
{
	if (c->direction != OF_FILTER)
		return 0;
	return c->images * c->inputs * c->outputs * (int64_t)sizeof(float);
}

int64_t gp_plans_beside_hopper(const char *plan, size_t size, bool is_first,
			       int64_t bytes)
{
	json_t *root = json_loadb(plan, size, 0, NULL);
	const json_t *knobs =
		json_object_get(json_object_get(root, "engine"), "knobChoices");
	struct convolution c = { 0 };
	struct kernel k;

	if (bytes >= 0 &&
	    read_convolution(&c, json_object_get(root, "operationGraph"))) {
		if (is_first && is_of_cublas(&c, knobs, bytes))
			bytes = of_cublas(&c);
		else if (!c.is_grouped && read_kernel(&k, knobs))
			bytes = in_clusters(&c, &k, bytes);
	}
	json_decref(root);
	return bytes;
}
