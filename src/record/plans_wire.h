/* SPDX-License-Identifier: MIT */
/*
 * How a recorded program asks the real cuDNN for plans.
 *
 * Since 9.8 cuDNN can plan for a device that is not there, from a description
 * of it ("deviceless ahead-of-time compilation"). This is done in another
 * process, so that the library cannot affect the program. The two talk over a
 * stream socket. Descriptors are numbers chosen by the program, starting at 1.
 * Requests that create, set or destroy descriptors are sent in batches and have
 * no reply: their errors are reported when the descriptor is finalized.
 */
#ifndef RECORD_PLANS_WIRE_H
#define RECORD_PLANS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

enum gp_plans_ask {
	GP_PLANS_HELLO,	 /* reply: count is cuDNN's version; or text says why
			  * there is none */
	GP_PLANS_CREATE, /* name: the descriptor's type; no reply */
	GP_PLANS_SET,	 /* the elements follow; no reply */
	GP_PLANS_FINALIZE,
	GP_PLANS_GET,	  /* reply: the elements follow */
	GP_PLANS_DESTROY, /* no reply */
};

/* Elements that are descriptors are sent as 8-byte numbers, 0 for none. Those
 * to be filled by GP_PLANS_GET follow its request. */
struct gp_plans_request {
	uint32_t ask, id;
	int32_t name, type; /* cudnnBackendAttributeName_t and -Type_t */
	int64_t count;	    /* of elements */
	uint64_t bytes;	    /* that follow */
};

struct gp_plans_reply {
	int32_t status; /* cudnnStatus_t */
	uint32_t bytes; /* that follow */
	int64_t count;
};

/* The longest request or reply. */
#define GP_PLANS_MOST_BYTES (UINT64_C(16) << 20)

/* cudnnBackendAttributeType_t, cudnn_graph.h of cuDNN 9. */
enum gp_plans_type {
	GP_PLANS_HANDLE = 0,
	GP_PLANS_DESCRIPTOR = 15,
	GP_PLANS_CHAR = 24,
};

/* Status codes of cuDNN, for requests that could not be answered. */
#define GP_PLANS_BAD_PARAM     2000
#define GP_PLANS_NOT_SUPPORTED 3000

bool gp_plans_has_reply(const struct gp_plans_request *request);

/* Bytes of an element. */
size_t gp_plans_element(int type);

/* true: all bytes were transferred. Interrupted calls are resumed. */
bool gp_plans_read(int socket, void *bytes, size_t size);
bool gp_plans_write(int socket, const void *bytes, size_t size);

#endif
