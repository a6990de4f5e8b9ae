/* SPDX-License-Identifier: MIT */
/*
 * Calls of CUDA's libraries on whose answers programs depend. All others answer
 * success (stand_in.h); cuDNN and NCCL have files of their own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/larger.h"
#include "simcuda/process.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/stand_in.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SUCCESS 0

/* ---- cuBLAS ---- */

int cublasGetVersion_v2(void *handle, int *version)
{
	*version = SIMCUDA_MAJOR * 10000;
	return SUCCESS;
}

size_t cublasLtGetVersion(void)
{
	return SIMCUDA_MAJOR * 10000;
}

/* One algorithm without workspace. cublasLtMatmulHeuristicResult_t has 96
 * bytes: the algorithm (64), its workspace size (8), its status, and more. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a,
				   void *b, void *c, void *d, void *preference,
				   int requested, void *results, int *returned)
{
	if (requested > 0)
		memset(results, 0, 80);
	*returned = requested > 0;
	return SUCCESS;
}

int cublasSetWorkspace_v2(void *handle, uint64_t workspace, size_t size)
{
	owners_workspace(OWNERS_CUBLAS, workspace);
	return SUCCESS;
}

/* Declared up to the workspace, the last parameter needed here. */
int cublasLtMatmul(void *handle, void *operation, void *alpha, void *a,
		   void *a_like, void *b, void *b_like, void *beta, void *c,
		   void *c_like, void *d, void *d_like, void *algorithm,
		   uint64_t workspace)
{
	owners_workspace(OWNERS_CUBLAS, workspace);
	process_notify_work(NULL);
	return SUCCESS;
}

/* ---- settings of handles: their defaults ---- */

int cublasGetMathMode(void *handle, int *mode)
{
	*mode = 0; /* CUBLAS_DEFAULT_MATH */
	return SUCCESS;
}

int cublasGetPointerMode_v2(void *handle, int *mode)
{
	*mode = 0; /* CUBLAS_POINTER_MODE_HOST */
	return SUCCESS;
}

int cudnnGetStream(void *handle, void **stream)
{
	*stream = NULL;
	return SUCCESS;
}

int cuptiGetVersion(uint32_t *version)
{
	*version = SIMCUDA_MAJOR * 10000;
	return SUCCESS;
}

/* ---- cuSPARSE ---- */

/* Sums of sparse matrices have no elements here: their number is computed on
 * the device. */
int cusparseSpMatGetSize(void *matrix, int64_t *rows, int64_t *columns,
			 int64_t *elements)
{
	*rows = *columns = *elements = 0;
	return SUCCESS;
}

/* ---- NVRTC: programs compile to nothing ---- */

int nvrtcVersion(int *major, int *minor)
{
	*major = SIMCUDA_MAJOR;
	*minor = 0;
	return SUCCESS;
}

#define SIZES(X)                                                               \
	X(nvrtcGetPTXSize)                                                     \
	X(nvrtcGetCUBINSize)                                                   \
	X(nvrtcGetProgramLogSize)

#define SIZE(name)                                                             \
	int name(void *program, size_t *size)                                  \
	{                                                                      \
		*size = 1;                                                     \
		return SUCCESS;                                                \
	}
SIZES(SIZE)

#define TEXTS(X)                                                               \
	X(nvrtcGetPTX)                                                         \
	X(nvrtcGetCUBIN)                                                       \
	X(nvrtcGetProgramLog)

#define TEXT(name)                                                             \
	int name(void *program, char *text)                                    \
	{                                                                      \
		*text = 0;                                                     \
		return SUCCESS;                                                \
	}
TEXTS(TEXT)

/* The name passed in lives as long as the program. */
int nvrtcGetLoweredName(void *program, const char *expression,
			const char **name)
{
	*name = expression;
	return SUCCESS;
}

/*
 * ---- cuFFT: the work areas of its plans ----
 *
 * cuFFT does not document how much a plan asks for. These rules were derived
 * from 20,412 plans on an H100 with CUDA 13.0's cuFFT
 * (tests/gpu/workspaces.py): in one dimension 96 % are exact to the byte, in
 * several dimensions 90 %. The others have lengths with a kernel of their own,
 * or with none.
 *
 * Sizes are counted in complex numbers.
 *
 * Signatures: cufftXt.h of CUDA Toolkit 13.0.
 */

#define INVALID_SIZE 8
#define MOST_RANK    3

/* cudaDataType. */
enum {
	COMPLEX_FLOAT = 4,
	COMPLEX_DOUBLE = 5,
	COMPLEX_HALF = 6,
};

/* Buffers are aligned to this many bytes. */
#define ALIGNMENT 1024

/* A bound on products of sizes, so that none overflows. */
#define MOST_NUMBERS (INT64_C(1) << 48)

int cufftCreate(int *plan)
{
	static int last;

	process_lock();
	*plan = ++last;
	process_unlock();
	return SUCCESS;
}

/* ---- cuFFT: numbers ---- */

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

/* The smallest number from n on without prime factors above 5. */
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

/* ---- cuFFT: one dimension, with a batch ---- */

/* A single kernel computes lengths up to this. */
static int64_t longest_alone(int64_t element)
{
	return element == 16 ? 2048 : 4096;
}

static int64_t aligned(int64_t numbers, int64_t element)
{
	return (int64_t)gp_round_up((uint64_t)numbers,
				    ALIGNMENT / (uint64_t)element);
}

/* As a convolution (Bluestein's algorithm): two buffers whose length has only
 * small prime factors. */
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

/* A real transform of even length is a complex one of half the length. */
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

/* For odd lengths, two real transforms of the batch are computed as a complex
 * one. */
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

/* ---- cuFFT: several dimensions ---- */

/* A dimension other than the last is computed with strides, except for long
 * ones with certain factors, which are copied. */
static int64_t in_strides(int64_t n, int64_t batch, int64_t element)
{
	bool is_copied = n > 1024 && (n % 7 == 0 || n % 15 == 0) &&
			 factors_of(n).largest <= 7;

	return is_copied ? n * batch : complex_one(n, batch, element);
}

/* The largest requirement of any dimension, as they are computed one after
 * another. */
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
			int type)
{
	int64_t element = element_of(type);

	*work = 0;
	if (!are_sizes(sizes, rank, batch) || !element)
		return INVALID_SIZE;
	*work = (size_t)(element *
			 numbers_of(sizes, rank, batch, element,
				    input_type != type || output_type != type));
	stand_in_measured(__func__);
	return SUCCESS;
}

/*
 * ---- cuSOLVER: workspaces of the calls that torch.linalg makes ----
 *
 * cuSOLVER does not document the sizes. They were measured for square matrices
 * of float and double on an H200 with CUDA 13.0's cuSOLVER
 * (tests/gpu/workspaces.py compares them); for orders in between they are
 * interpolated. All other sizes are 0 and counted, like those that stand_in.c
 * answers.
 *
 * Signatures: cusolverDn.h of CUDA Toolkit 13.0.
 */

/* ---- cuSOLVER: measurements ---- */

static const uint32_t orders[] = {
	8,   16,  31,  32,  33,	 64,   100,  128,
	200, 256, 300, 512, 513, 1000, 1024, 2048,
};

/* By order, starting with the first that was measured. */
struct measured {
	size_t first, count;
	uint32_t sizes[sizeof(orders) / sizeof(*orders)];
};

/* Bytes, for any element type. */
static const struct measured potrf = {
	0,
	16,
	{ 160, 160, 160, 160, 160, 160, 192, 192, 352, 384, 544, 1152, 1312,
	  4224, 4224, 16512 },
};

static const struct measured sgetrf = {
	0,
	16,
	{ 768, 768, 768, 768, 1280, 1280, 2304, 2304, 4096, 4352, 6912, 8448,
	  8704, 12544, 12544, 52480 },
};

static const struct measured dgetrf = {
	0,
	16,
	{ 768, 768, 768, 768, 1280, 1280, 2304, 2304, 4096, 4352, 6912, 8448,
	  8704, 12544, 12544, 86272 },
};

/* Elements; those of geev are from an H100, with the orders 300 and 513
 * interpolated. */
static const struct measured sgeev = {
	0,
	16,
	{ 33152, 33408, 34176, 34176, 34304, 37376, 46592, 65664, 93952, 115712,
	  132736, 264320, 265360, 1004032, 1052800, 4202624 },
};

static const struct measured dgeev = {
	0,
	16,
	{ 33152, 33408, 34112, 34176, 34240, 37312, 46528, 65664, 93888, 115648,
	  132736, 264256, 265300, 1004032, 1052736, 4202560 },
};

static const struct measured orgqr = {
	0,
	16,
	{ 33088, 33280, 34016, 34048, 34144, 37120, 46656, 65792, 93440, 114944,
	  131840, 213248, 213632, 400640, 409856, 803072 },
};

static const struct measured ormqr = {
	0,
	16,
	{ 72064, 78592, 91552, 92416, 93408, 123200, 162720, 196992, 299616,
	  393728, 476512, 983808, 986688, 2834816, 2950400, 10029312 },
};

static const struct measured gesvdj = {
	0,
	16,
	{ 992, 992, 992, 992, 7392, 13408, 29408, 42208, 95776, 149024, 202240,
	  559648, 563904, 2071712, 2168864, 8539200 },
};

static const struct measured syevd = {
	0,
	16,
	{ 71939, 78643, 92274, 93235, 94230, 127059, 172427, 213075, 339235,
	  458835, 566011, 1245267, 1249110, 4160003, 4357331, 17070291 },
};

static const struct measured syevj = {
	3,
	9,
	{ 3109, 4212, 7250, 15288, 21700, 48595, 75272, 101974, 281104 },
};

/* Bytes, for batches of two and of 16 float matrices; PyTorch uses it up to an
 * order of 32. */
static const struct measured syev_of_2 = {
	0,
	4,
	{ 575256, 629016, 737936, 745624 },
};
static const struct measured syev_of_16 = {
	0,
	4,
	{ 4599872, 5029440, 5901056, 5962304 },
};

/* Most sizes grow with the matrix: interpolates by the square of the order. */
static size_t at(const struct measured *of, int64_t order)
{
	const uint32_t *n = orders + of->first;
	size_t i = 0;
	double from, to, part;

	if (order <= n[0])
		return of->sizes[0];
	while (i + 2 < of->count && n[i + 1] < order)
		i++;
	from = (double)n[i] * n[i];
	to = (double)n[i + 1] * n[i + 1];
	part = ((double)order * (double)order - from) / (to - from);
	return (size_t)(of->sizes[i] +
			part * ((double)of->sizes[i + 1] - of->sizes[i]));
}

/* ---- cuSOLVER: answers ---- */

/* cudaDataType: CUDA_R_32F and CUDA_R_64F; 0: other types were not measured. */
static size_t element(int type)
{
	return type == 0 ? sizeof(float) : type == 1 ? sizeof(double) : 0;
}

static int put_size(size_t *size, size_t bytes, bool is_measured,
		    const char *name)
{
	*size = is_measured ? bytes : 0;
	if (is_measured)
		stand_in_measured(name);
	else
		stand_in_size(name);
	return SUCCESS;
}

static int put_elements(int *size, size_t elements, bool is_measured,
			const char *name)
{
	size_t counted;

	put_size(&counted, elements, is_measured, name);
	*size = (int)counted;
	return SUCCESS;
}

/* ---- cuSOLVER: sizes in bytes ---- */

int cusolverDnXpotrf_bufferSize(void *handle, void *parameters, int triangle,
				int64_t n, int type, void *a, int64_t rows,
				int computed, size_t *device, size_t *host)
{
	*host = 0;
	return put_size(device, at(&potrf, n), element(type), __func__);
}

/* At least one block of 256 columns. */
static size_t geqrf(int64_t n, size_t bytes)
{
	return bytes * 1024 * ((n > 256 ? (size_t)n : 256) + 512) + 128;
}

int cusolverDnXgeqrf_bufferSize(void *handle, void *parameters, int64_t m,
				int64_t n, int type, void *a, int64_t rows,
				int type_of_tau, void *tau, int computed,
				size_t *device, size_t *host)
{
	*host = 0;
	return put_size(device, geqrf(n, element(type)),
			element(type) && m == n, __func__);
}

int cusolverDnXsyevd_bufferSize(void *handle, void *parameters, int vectors,
				int triangle, int64_t n, int type, void *a,
				int64_t rows, int type_of_w, void *w,
				int computed, size_t *device, size_t *host)
{
	/* The extra bytes are the same for float and for double. */
	size_t besides = type == 0 ? 64 : 0;

	*host = 0;
	return put_size(device, element(type) * at(&syevd, n) + besides,
			element(type), __func__);
}

/* PyTorch asks for the right vectors only. */
int cusolverDnXgeev_bufferSize(void *handle, void *parameters, int left,
			       int right, int64_t n, int type, void *a,
			       int64_t rows, int type_of_w, void *w,
			       int type_of_left, void *vl, int64_t left_rows,
			       int type_of_right, void *vr, int64_t right_rows,
			       int computed, size_t *device, size_t *host)
{
	*host = 0;
	return put_size(device, element(type) * at(type ? &dgeev : &sgeev, n),
			element(type), __func__);
}

int cusolverDnXsyevBatched_bufferSize(void *handle, void *parameters,
				      int vectors, int triangle, int64_t n,
				      int type, void *a, int64_t rows,
				      int type_of_w, void *w, int computed,
				      size_t *device, size_t *host,
				      int64_t batch)
{
	int64_t of_2 = (int64_t)at(&syev_of_2, n) - 128;
	int64_t of_16 = (int64_t)at(&syev_of_16, n) - 128;
	int64_t of_floats = of_2 + (of_16 - of_2) * (batch - 2) / 14;

	*host = 0;
	return put_size(device,
			element(type) / sizeof(float) * (size_t)of_floats + 128,
			element(type) && n <= 32, __func__);
}

/* ---- cuSOLVER: sizes in elements of float and of double ---- */

#define GETRF(name, sizes, bytes)                                              \
	int name(void *handle, int m, int n, void *a, int rows, int *size)     \
	{                                                                      \
		return put_elements(size, at(sizes, n) / (bytes), m == n,      \
				    __func__);                                 \
	}
GETRF(cusolverDnSgetrf_bufferSize, &sgetrf, sizeof(float))
GETRF(cusolverDnDgetrf_bufferSize, &dgetrf, sizeof(double))

#define ORGQR(name)                                                            \
	int name(void *handle, int m, int n, int k, void *a, int rows,         \
		 void *tau, int *size)                                         \
	{                                                                      \
		return put_elements(size, at(&orgqr, n), m == n && n == k,     \
				    __func__);                                 \
	}
ORGQR(cusolverDnSorgqr_bufferSize)
ORGQR(cusolverDnDorgqr_bufferSize)

#define ORMQR(name)                                                            \
	int name(void *handle, int side, int how, int m, int n, int k,         \
		 void *a, int rows, void *tau, void *c, int c_rows, int *size) \
	{                                                                      \
		return put_elements(size, at(&ormqr, n), m == n && n == k,     \
				    __func__);                                 \
	}
ORMQR(cusolverDnSormqr_bufferSize)
ORMQR(cusolverDnDormqr_bufferSize)

#define GESVDJ(name)                                                           \
	int name(void *handle, int vectors, int few, int m, int n, void *a,    \
		 int rows, void *s, void *u, int u_rows, void *v, int v_rows,  \
		 int *size, void *parameters)                                  \
	{                                                                      \
		return put_elements(size, at(&gesvdj, n), m == n, __func__);   \
	}
GESVDJ(cusolverDnSgesvdj_bufferSize)
GESVDJ(cusolverDnDgesvdj_bufferSize)

/* PyTorch uses it up to an order of 32. */
#define GESVDJ_BATCHED(name)                                                   \
	int name(void *handle, int vectors, int m, int n, void *a, int rows,   \
		 void *s, void *u, int u_rows, void *v, int v_rows, int *size, \
		 void *parameters, int batch)                                  \
	{                                                                      \
		return put_elements(size, at(&gesvdj, n), m == n && n <= 32,   \
				    __func__);                                 \
	}
GESVDJ_BATCHED(cusolverDnSgesvdjBatched_bufferSize)
GESVDJ_BATCHED(cusolverDnDgesvdjBatched_bufferSize)

/* PyTorch uses it for float, for orders from 32 to 512. */
int cusolverDnSsyevj_bufferSize(void *handle, int vectors, int triangle, int n,
				void *a, int rows, void *w, int *size,
				void *parameters)
{
	return put_elements(size, at(&syevj, n), n >= 32 && n <= 512, __func__);
}
