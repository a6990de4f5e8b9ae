/* SPDX-License-Identifier: MIT */
/*
 * Recording: running a PyTorch program on the simulated device.
 *
 * PyTorch's libraries want CUDA's by their sonames, and some hundreds of
 * symbols of them.  What behaves is in libgpupool-simcuda (src/simcuda); for
 * the rest shared objects are written here, with no compiler: an empty one for
 * each soname, and one that defines every symbol that is wanted and leads it to
 * simcuda's stand-in.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stddef.h>

#include "device/gpu.h"
#include "gpupool/status.h"

/* What the libraries of a PyTorch want of CUDA; gp_wants_release. */
struct gp_wants {
	char **symbols;
	size_t symbol_count, symbol_room;
	char **sonames;
	size_t soname_count, soname_room;
	unsigned cuda; /* major version, as libcudart's soname has it; 0: none
			*/
};

/* Adds what one library's bytes want: nothing when they are no 64-bit ELF
 * file, or where its tables point outside of it. */
void gp_wants_scan(struct gp_wants *wants, const void *bytes, size_t size);
/* Reads every library in the folder torch/lib. */
enum gp_status gp_wants_read(struct gp_wants *wants, const char *folder,
			     struct gp_diag *diag);
/* And those of other packages that are installed in a folder beside it. */
void gp_wants_read_packages(struct gp_wants *wants, const char *folder);
void gp_wants_release(struct gp_wants *wants);

/* A shared object for x86-64. */
struct gp_object {
	const char *soname;
	const char *const *needed; /* libraries it depends on */
	size_t needed_count;
	char *const *symbols; /* each calls the stand-in with its name */
	size_t symbol_count;
};

enum gp_status gp_object_write(const struct gp_object *object, const char *path,
			       struct gp_diag *diag);

/* Writes all of them into a folder that is there, unless they are. */
enum gp_status gp_stand_ins_write(const struct gp_wants *wants,
				  const char *folder, struct gp_diag *diag);

/* What plans are made with; all borrowed. */
struct gp_plans_source {
	const char *cudnn;   /* the library */
	const char *torch;   /* PyTorch's folder, wheels beside it */
	const char *simcuda; /* libgpupool-simcuda.so of this version of CUDA */
	const char *folder;  /* for a file that is soon gone */
	const struct gp_gpu *gpu;
	unsigned cuda; /* major version */
};

/* Answers a recorded program (simcuda/plans.h) until its end of the socket is
 * closed.  The library may end the process. */
void gp_plans_work(int socket, const struct gp_plans_source *source);

#endif
