/* SPDX-License-Identifier: MIT */
/*
 * A page shared by the driver and the library in the program: what is to fail,
 * and what was counted. It remains however the program ends.
 */
#ifndef FAULT_PAGE_H
#define FAULT_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

enum fault_kind {
	FAULT_MEMORY, /* malloc, calloc, realloc */
	FAULT_OPEN,
	FAULT_READ,
	FAULT_WRITE, /* and what makes a file longer or shorter */
	FAULT_RENAME,
	FAULT_MMAP,
	FAULT_FSYNC,
	FAULT_THREAD,
	FAULT_KINDS,
};

/* Where the library finds the page. */
#define FAULT_PAGE_NAME "FAULT_PAGE"

struct fault_page {
	_Atomic uint64_t seen[FAULT_KINDS]; /* calls so far */
	_Atomic uint64_t failed;	    /* that were made to fail */
	uint64_t at;			    /* the first to fail, from 1 */
	uint32_t kind;
	uint32_t goes_on; /* all that follow fail too */
};

#endif
