/* SPDX-License-Identifier: MIT */
/*
 * cuSOLVER: the workspaces of what torch.linalg asks it for.
 *
 * How much is cuSOLVER's secret.  It was measured for square matrices of float
 * and double on an H200, with the cuSOLVER of CUDA 13.0 (tests/gpu/
 * workspaces.py holds what is told here against that); orders between are
 * interpolated.  Others are none, and counted, as all were that stand_in.c
 * answers.
 *
 * Signatures: cusolverDn.h of the CUDA Toolkit 13.0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simcuda/program/stand_in.h"

#define SUCCESS 0

/* ---- what was measured ---- */

static const uint32_t orders[] = {
	8,   16,  31,  32,  33,	 64,   100,  128,
	200, 256, 300, 512, 513, 1000, 1024, 2048,
};

/* By order, from the first that was measured. */
struct measured {
	size_t first, count;
	uint32_t sizes[sizeof(orders) / sizeof(*orders)];
};

/* Bytes, of whatever elements. */
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

/* Elements; of geev as an H100 has them, those of 300 and 513 between others'.
 */
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

/* Bytes, of two matrices of float at once and of 16: PyTorch takes it up to an
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

/* Most grow with the matrix: between two orders, by their squares. */
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

/* ---- what is told ---- */

/* cudaDataType: CUDA_R_32F, CUDA_R_64F; 0: of no other was anything measured.
 */
static size_t element(int type)
{
	return type == 0 ? sizeof(float) : type == 1 ? sizeof(double) : 0;
}

static int tell(size_t *size, size_t bytes, bool is_measured, const char *name)
{
	*size = is_measured ? bytes : 0;
	if (is_measured)
		stand_in_measured(name);
	else
		stand_in_size(name);
	return SUCCESS;
}

static int tell_elements(int *size, size_t elements, bool is_measured,
			 const char *name)
{
	size_t told;

	tell(&told, elements, is_measured, name);
	*size = (int)told;
	return SUCCESS;
}

/* ---- sizes in bytes ---- */

int cusolverDnXpotrf_bufferSize(void *handle, void *parameters, int triangle,
				int64_t n, int type, void *a, int64_t rows,
				int computed, size_t *device, size_t *host);
int cusolverDnXpotrf_bufferSize(void *handle, void *parameters, int triangle,
				int64_t n, int type, void *a, int64_t rows,
				int computed, size_t *device, size_t *host)
{
	(void)handle, (void)parameters, (void)triangle, (void)a, (void)rows;
	(void)computed;
	*host = 0;
	return tell(device, at(&potrf, n), element(type), __func__);
}

/* One block of 256 columns at least. */
static size_t geqrf(int64_t n, size_t bytes)
{
	return bytes * 1024 * ((n > 256 ? (size_t)n : 256) + 512) + 128;
}

int cusolverDnXgeqrf_bufferSize(void *handle, void *parameters, int64_t m,
				int64_t n, int type, void *a, int64_t rows,
				int type_of_tau, void *tau, int computed,
				size_t *device, size_t *host);
int cusolverDnXgeqrf_bufferSize(void *handle, void *parameters, int64_t m,
				int64_t n, int type, void *a, int64_t rows,
				int type_of_tau, void *tau, int computed,
				size_t *device, size_t *host)
{
	(void)handle, (void)parameters, (void)a, (void)rows;
	(void)type_of_tau, (void)tau, (void)computed;
	*host = 0;
	return tell(device, geqrf(n, element(type)), element(type) && m == n,
		    __func__);
}

int cusolverDnXsyevd_bufferSize(void *handle, void *parameters, int vectors,
				int triangle, int64_t n, int type, void *a,
				int64_t rows, int type_of_w, void *w,
				int computed, size_t *device, size_t *host);
int cusolverDnXsyevd_bufferSize(void *handle, void *parameters, int vectors,
				int triangle, int64_t n, int type, void *a,
				int64_t rows, int type_of_w, void *w,
				int computed, size_t *device, size_t *host)
{
	/* As much besides for float as for double. */
	size_t besides = type == 0 ? 64 : 0;

	(void)handle, (void)parameters, (void)vectors, (void)triangle;
	(void)a, (void)rows, (void)type_of_w, (void)w, (void)computed;
	*host = 0;
	return tell(device, element(type) * at(&syevd, n) + besides,
		    element(type), __func__);
}

/* Of the left and right vectors, PyTorch asks for the right ones. */
int cusolverDnXgeev_bufferSize(void *handle, void *parameters, int left,
			       int right, int64_t n, int type, void *a,
			       int64_t rows, int type_of_w, void *w,
			       int type_of_left, void *vl, int64_t left_rows,
			       int type_of_right, void *vr, int64_t right_rows,
			       int computed, size_t *device, size_t *host);
int cusolverDnXgeev_bufferSize(void *handle, void *parameters, int left,
			       int right, int64_t n, int type, void *a,
			       int64_t rows, int type_of_w, void *w,
			       int type_of_left, void *vl, int64_t left_rows,
			       int type_of_right, void *vr, int64_t right_rows,
			       int computed, size_t *device, size_t *host)
{
	(void)handle, (void)parameters, (void)left, (void)right, (void)a;
	(void)rows, (void)type_of_w, (void)w, (void)type_of_left, (void)vl;
	(void)left_rows, (void)type_of_right, (void)vr, (void)right_rows;
	(void)computed;
	*host = 0;
	return tell(device, element(type) * at(type ? &dgeev : &sgeev, n),
		    element(type), __func__);
}

int cusolverDnXsyevBatched_bufferSize(void *handle, void *parameters,
				      int vectors, int triangle, int64_t n,
				      int type, void *a, int64_t rows,
				      int type_of_w, void *w, int computed,
				      size_t *device, size_t *host,
				      int64_t batch);
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

	(void)handle, (void)parameters, (void)vectors, (void)triangle;
	(void)a, (void)rows, (void)type_of_w, (void)w, (void)computed;
	*host = 0;
	return tell(device,
		    element(type) / sizeof(float) * (size_t)of_floats + 128,
		    element(type) && n <= 32, __func__);
}

/* ---- sizes in elements, of float and of double ---- */

#define GETRF(name, sizes, bytes)                                              \
	int name(void *handle, int m, int n, void *a, int rows, int *size);    \
	int name(void *handle, int m, int n, void *a, int rows, int *size)     \
	{                                                                      \
		(void)handle, (void)a, (void)rows;                             \
		return tell_elements(size, at(sizes, n) / (bytes), m == n,     \
				     __func__);                                \
	}
GETRF(cusolverDnSgetrf_bufferSize, &sgetrf, sizeof(float))
GETRF(cusolverDnDgetrf_bufferSize, &dgetrf, sizeof(double))

#define ORGQR(name)                                                            \
	int name(void *handle, int m, int n, int k, void *a, int rows,         \
		 void *tau, int *size);                                        \
	int name(void *handle, int m, int n, int k, void *a, int rows,         \
		 void *tau, int *size)                                         \
	{                                                                      \
		(void)handle, (void)a, (void)rows, (void)tau;                  \
		return tell_elements(size, at(&orgqr, n), m == n && n == k,    \
				     __func__);                                \
	}
ORGQR(cusolverDnSorgqr_bufferSize)
ORGQR(cusolverDnDorgqr_bufferSize)

#define ORMQR(name)                                                            \
	int name(void *handle, int side, int how, int m, int n, int k,         \
		 void *a, int rows, void *tau, void *c, int c_rows,            \
		 int *size);                                                   \
	int name(void *handle, int side, int how, int m, int n, int k,         \
		 void *a, int rows, void *tau, void *c, int c_rows, int *size) \
	{                                                                      \
		(void)handle, (void)side, (void)how, (void)a, (void)rows;      \
		(void)tau, (void)c, (void)c_rows;                              \
		return tell_elements(size, at(&ormqr, n), m == n && n == k,    \
				     __func__);                                \
	}
ORMQR(cusolverDnSormqr_bufferSize)
ORMQR(cusolverDnDormqr_bufferSize)

#define GESVDJ(name)                                                           \
	int name(void *handle, int vectors, int few, int m, int n, void *a,    \
		 int rows, void *s, void *u, int u_rows, void *v, int v_rows,  \
		 int *size, void *parameters);                                 \
	int name(void *handle, int vectors, int few, int m, int n, void *a,    \
		 int rows, void *s, void *u, int u_rows, void *v, int v_rows,  \
		 int *size, void *parameters)                                  \
	{                                                                      \
		(void)handle, (void)vectors, (void)few, (void)a, (void)rows;   \
		(void)s, (void)u, (void)u_rows, (void)v, (void)v_rows;         \
		(void)parameters;                                              \
		return tell_elements(size, at(&gesvdj, n), m == n, __func__);  \
	}
GESVDJ(cusolverDnSgesvdj_bufferSize)
GESVDJ(cusolverDnDgesvdj_bufferSize)

/* PyTorch takes it up to an order of 32. */
#define GESVDJ_BATCHED(name)                                                   \
	int name(void *handle, int vectors, int m, int n, void *a, int rows,   \
		 void *s, void *u, int u_rows, void *v, int v_rows, int *size, \
		 void *parameters, int batch);                                 \
	int name(void *handle, int vectors, int m, int n, void *a, int rows,   \
		 void *s, void *u, int u_rows, void *v, int v_rows, int *size, \
		 void *parameters, int batch)                                  \
	{                                                                      \
		(void)handle, (void)vectors, (void)a, (void)rows, (void)s;     \
		(void)u, (void)u_rows, (void)v, (void)v_rows;                  \
		(void)parameters, (void)batch;                                 \
		return tell_elements(size, at(&gesvdj, n), m == n && n <= 32,  \
				     __func__);                                \
	}
GESVDJ_BATCHED(cusolverDnSgesvdjBatched_bufferSize)
GESVDJ_BATCHED(cusolverDnDgesvdjBatched_bufferSize)

/* PyTorch takes it for float of orders from 32 to 512. */
int cusolverDnSsyevj_bufferSize(void *handle, int vectors, int triangle, int n,
				void *a, int rows, void *w, int *size,
				void *parameters);
int cusolverDnSsyevj_bufferSize(void *handle, int vectors, int triangle, int n,
				void *a, int rows, void *w, int *size,
				void *parameters)
{
	(void)handle, (void)vectors, (void)triangle, (void)a, (void)rows;
	(void)w, (void)parameters;
	return tell_elements(size, at(&syevj, n), n >= 32 && n <= 512,
			     __func__);
}
