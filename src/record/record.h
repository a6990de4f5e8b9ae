/* SPDX-License-Identifier: MIT */
/*
 * Recording: running a PyTorch program on the simulated device.
 *
 * PyTorch's libraries depend on CUDA's by soname, and on some hundreds of their
 * symbols. The calls that matter are implemented in libgpupool-simcuda
 * (src/simcuda). For the rest, shared objects are written here without a
 * compiler: an empty one for each soname, and one that defines all required
 * symbols and leads each to simcuda's stand-in.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <stddef.h>

#include "device/gpu.h"
#include "gpupool/status.h"

/* What PyTorch's libraries require of CUDA. Free it with gp_wants_release. */
struct gp_wants {
	char **symbols;
	size_t symbol_count, symbol_room;
	char **sonames;
	size_t soname_count, soname_room;
	unsigned cuda; /* major version, as libcudart's soname has it; 0: none
			*/
};

/* Adds what one library requires. Adds nothing if the bytes are not a 64-bit
 * ELF file or if its tables point outside of it. */
void gp_wants_scan(struct gp_wants *wants, const void *bytes, size_t size);
/* Reads every library in the folder torch/lib. */
enum gp_status gp_wants_read(struct gp_wants *wants, const char *folder,
			     struct gp_diag *diag);
/* The same for other packages installed in a folder beside PyTorch. */
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

/* Writes all of them into an existing folder, unless they are already there. */
enum gp_status gp_stand_ins_write(const struct gp_wants *wants,
				  const char *folder, struct gp_diag *diag);

/* What planning needs; all pointers are borrowed. */
struct gp_plans_source {
	const char *cudnn;   /* the library */
	const char *torch;   /* PyTorch's folder, wheels beside it */
	const char *simcuda; /* libgpupool-simcuda.so of this version of CUDA */
	const char *folder;  /* for a temporary file */
	const struct gp_gpu *gpu;
	unsigned cuda; /* major version */
};

/* Answers a recorded program's planning requests (record/plans_wire.h) until it
 * closes its end of the socket. cuDNN may end this process. */
void gp_plans_work(int socket, const struct gp_plans_source *source);

#endif
