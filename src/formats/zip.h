/* SPDX-License-Identifier: MIT */
/*
 * Finds the one trace in a zip file: a snapshot as people attach it to issues,
 * or as torch.save() writes it. The layout is that of PKWARE's APPNOTE.TXT.
 */
#ifndef FORMATS_ZIP_H
#define FORMATS_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

struct gp_zip_entry {
	uint64_t at, length; /* of its bytes in the zip file */
	bool is_deflated;    /* else they are stored as they are */
};

/* Any bytes of the zip file. */
struct gp_zip_file {
	uint64_t size;
	/* Reads exactly n bytes; false: it could not. */
	bool (*read)(void *arg, uint64_t at, void *to, size_t n);
	void *arg;
};

bool gp_zip_is(const unsigned char *head, size_t n);

/* GP_INPUT: it is damaged, has no file or several, or is packed in a way that
 * is not supported. */
enum gp_status gp_zip_find(const struct gp_zip_file *zip,
			   struct gp_zip_entry *entry, struct gp_diag *diag);

#endif
