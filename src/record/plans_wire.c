/* SPDX-License-Identifier: MIT */
/* The planning protocol's reading and writing, for both ends. */
#include "record/plans_wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

bool gp_plans_has_reply(const struct gp_plans_request *request)
{
	return request->ask != GP_PLANS_CREATE &&
	       request->ask != GP_PLANS_SET && request->ask != GP_PLANS_DESTROY;
}

/* All other types are enumerations of four bytes. */
size_t gp_plans_element(int type)
{
	enum { BOOLEAN = 2, INT64, FLOAT, DOUBLE, VOID_PTR };
	enum { FRACTION = 26 };

	switch (type) {
	case BOOLEAN:
	case GP_PLANS_CHAR: return 1;
	case GP_PLANS_HANDLE:
	case INT64:
	case DOUBLE:
	case VOID_PTR:
	case GP_PLANS_DESCRIPTOR: return 8;
	case FRACTION: return 16;
	default: return 4;
	}
}

bool gp_plans_read(int socket, void *bytes, size_t size)
{
	for (char *at = bytes; size;) {
		ssize_t n = recv(socket, at, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

bool gp_plans_write(int socket, const void *bytes, size_t size)
{
	for (const char *at = bytes; size;) {
		ssize_t n = send(socket, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}
