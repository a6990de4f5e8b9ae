/* SPDX-License-Identifier: MIT */
/*
 * Answers the planning requests of a recorded program with the real cuDNN.
 *
 * The program's handle cannot be passed on. Instead, descriptors that need a
 * device get the described one when they are finalized.
 */
#include "record/plans.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Attributes that name a device, and the types of the descriptors that have
 * them: cudnn_graph.h of cuDNN 9.26. */
static const struct {
	int descriptor, attribute;
} wanting[] = {
	{ 2, 1307 }, /* engine */
	{ 4, 204 },  /* heuristics */
	{ 5, 407 },  /* plan */
};

enum {
	PLAN = 5,
	PLAN_CONFIG = 401,
	PLAN_WORKSPACE = 402,
	PLAN_JSON = 405,
	HEURISTICS_RESULTS = 202,
};

/* More than any program creates. */
#define MOST_DESCRIPTORS (1u << 24)

struct descriptor {
	void *object;
	int type;
	int status;    /* of the first attribute that could not be set */
	bool is_first; /* the heuristics' first configuration, or its plan */
};

struct conversation {
	const struct gp_plans_library *library;
	struct descriptor *items;
	size_t count, room;
	char *bytes; /* of the request, later of the reply */
	size_t bytes_room;
};

static struct descriptor *find(const struct conversation *c, uint64_t id)
{
	static struct descriptor none;

	return id < c->count ? &c->items[id] : &none;
}

static void make_room(struct conversation *c, size_t size)
{
	GP_GROW(c->bytes, size + 1, c->bytes_room);
}

static int create(struct conversation *c, const struct gp_plans_request *r)
{
	struct descriptor *d;

	if (r->id >= MOST_DESCRIPTORS)
		return GP_PLANS_BAD_PARAM;
	if (r->id >= c->count) {
		GP_GROW(c->items, r->id + 1, c->room);
		memset(c->items + c->count, 0,
		       (r->id + 1 - c->count) * sizeof(*c->items));
		c->count = r->id + 1;
	}
	d = &c->items[r->id];
	d->type = r->name;
	d->status = 0;
	d->is_first = false;
	return c->library->create(r->name, &d->object);
}

/* Replaces the ids of descriptors by the descriptors. */
static void name_descriptors(struct conversation *c, int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		char *at = c->bytes + i * (int64_t)sizeof(uint64_t);
		uint64_t id;

		memcpy(&id, at, sizeof(id));
		memcpy(at, &find(c, id)->object, sizeof(void *));
	}
}

/* The first descriptor named in the request; one without an object if none is.
 */
static struct descriptor *first_named(const struct conversation *c,
				      int64_t count)
{
	uint64_t id = UINT64_MAX;

	if (count > 0)
		memcpy(&id, c->bytes, sizeof(id));
	return find(c, id);
}

static int set(struct conversation *c, const struct gp_plans_request *r,
	       struct descriptor *d)
{
	if (r->type == GP_PLANS_HANDLE)
		return 0;
	if (r->type == GP_PLANS_DESCRIPTOR && r->name == PLAN_CONFIG)
		d->is_first = first_named(c, r->count)->is_first;
	if (r->type == GP_PLANS_DESCRIPTOR)
		name_descriptors(c, r->count);
	return c->library->set(d->object, r->name, r->type, r->count, c->bytes);
}

static int finalize(const struct conversation *c, const struct descriptor *d)
{
	for (size_t i = 0; i < sizeof(wanting) / sizeof(*wanting); i++)
		if (wanting[i].descriptor == d->type)
			c->library->set(d->object, wanting[i].attribute,
					GP_PLANS_DESCRIPTOR, 1,
					&c->library->device);
	return d->status ? d->status : c->library->finalize(d->object);
}

/* Reports the workspace that the plan would ask for on the device. */
static void correct(const struct conversation *c, const struct descriptor *d)
{
	const struct gp_plans_library *library = c->library;
	int64_t size = 0, told, bytes;
	char *text;

	if (library->get(d->object, PLAN_JSON, GP_PLANS_CHAR, 0, &size, NULL) ||
	    size <= 0 || (uint64_t)size > GP_PLANS_MOST_BYTES)
		return;
	text = gp_mem_alloc((size_t)size, 1);
	memcpy(&bytes, c->bytes, sizeof(bytes));
	if (!library->get(d->object, PLAN_JSON, GP_PLANS_CHAR, size, &told,
			  text)) {
		bytes = gp_plans_beside_hopper(
			text, strnlen(text, (size_t)size), d->is_first, bytes);
		memcpy(c->bytes, &bytes, sizeof(bytes));
	}
	free(text);
}

/* Descriptors are filled in place; the values of everything else are sent. */
static void get(struct conversation *c, const struct gp_plans_request *r,
		const struct descriptor *d, struct gp_plans_reply *reply)
{
	size_t element = gp_plans_element(r->type);
	int64_t sent;

	if (r->type == GP_PLANS_DESCRIPTOR) {
		struct descriptor *first = first_named(c, r->count);

		if (r->name == HEURISTICS_RESULTS && first->object)
			first->is_first = true;
		name_descriptors(c, r->count);
	} else {
		make_room(c, (size_t)r->count * element);
		memset(c->bytes, 0, (size_t)r->count * element);
	}
	reply->status =
		c->library->get(d->object, r->name, r->type, r->count,
				&reply->count, r->count ? c->bytes : NULL);
	if (reply->status || r->type == GP_PLANS_DESCRIPTOR)
		return;
	if (c->library->is_hopper && d->type == PLAN &&
	    r->name == PLAN_WORKSPACE && reply->count == 1 && r->count == 1 &&
	    element == sizeof(int64_t))
		correct(c, d);
	sent = reply->count < r->count ? reply->count : r->count;
	reply->bytes = sent > 0 ? (uint32_t)((size_t)sent * element) : 0;
}

static void hello(struct conversation *c, struct gp_plans_reply *reply)
{
	const struct gp_plans_library *library = c->library;

	reply->status = library->device ? 0 : GP_PLANS_NOT_SUPPORTED;
	reply->count = library->version ? (int64_t)library->version() : 0;
	reply->bytes = (uint32_t)strlen(library->why);
	make_room(c, reply->bytes);
	memcpy(c->bytes, library->why, reply->bytes);
}

static void answer(struct conversation *c, const struct gp_plans_request *r,
		   struct gp_plans_reply *reply)
{
	struct descriptor *d = find(c, r->id);

	if (r->ask == GP_PLANS_HELLO) {
		hello(c, reply);
		return;
	}
	reply->status = GP_PLANS_BAD_PARAM;
	if (!c->library->device)
		return;
	if (r->ask == GP_PLANS_CREATE)
		reply->status = create(c, r);
	if (!d->object)
		return;
	switch (r->ask) {
	case GP_PLANS_SET:
		reply->status = set(c, r, d);
		d->status = d->status ? d->status : reply->status;
		break;
	case GP_PLANS_FINALIZE: reply->status = finalize(c, d); break;
	case GP_PLANS_GET: get(c, r, d, reply); break;
	case GP_PLANS_DESTROY:
		reply->status = c->library->destroy(d->object);
		d->object = NULL;
		break;
	default: break;
	}
}

/* Whether the bytes that follow the request are those of its elements. */
static bool is_whole(const struct gp_plans_request *r)
{
	uint64_t element = gp_plans_element(r->type);

	if (r->count < 0 || (uint64_t)r->count > GP_PLANS_MOST_BYTES / element)
		return false;
	if (r->ask == GP_PLANS_SET ||
	    (r->ask == GP_PLANS_GET && r->type == GP_PLANS_DESCRIPTOR))
		return r->bytes == (uint64_t)r->count * element;
	return !r->bytes;
}

void gp_plans_answer(const struct gp_plans_library *library, int socket)
{
	struct conversation c = { .library = library };
	struct gp_plans_request request;

	while (gp_plans_read(socket, &request, sizeof(request)) &&
	       is_whole(&request)) {
		struct gp_plans_reply reply = { 0 };

		make_room(&c, request.bytes);
		if (!gp_plans_read(socket, c.bytes, request.bytes))
			break;
		answer(&c, &request, &reply);
		if (gp_plans_has_reply(&request) &&
		    (!gp_plans_write(socket, &reply, sizeof(reply)) ||
		     !gp_plans_write(socket, c.bytes, reply.bytes)))
			break;
	}
	for (size_t i = 0; i < c.count; i++)
		if (c.items[i].object)
			library->destroy(c.items[i].object);
	free(c.items);
	free(c.bytes);
}

void gp_plans_work(int socket, const struct gp_plans_source *source)
{
	struct gp_plans_library library;

	gp_plans_load(&library, source);
	gp_plans_answer(&library, socket);
}
