/* SPDX-License-Identifier: MIT */
/*
 * One connection per process, one request at a time. If it breaks, cuDNN has
 * ended its process: the program continues with the stand-in.
 */
#include "simcuda/program/plans.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/plans_wire.h"

static struct {
	pthread_mutex_t lock;
	pid_t owner; /* process that connected; 0: none */
	int socket;
	bool can;
	unsigned version;
	uint32_t last;
	uint64_t given;
	char why[256];
	char unsent[64 << 10]; /* requests */
	size_t unsent_size;
} plans = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.socket = -1,
};

/* ---- the connection ---- */

/* Socket addresses are short and paths may be long: opens the folder first. */
static int open_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[4096];
	const char *end = strrchr(path, '/');
	int at, made;

	if (!end || (size_t)(end - path) >= sizeof(folder))
		return -1;
	memcpy(folder, path, (size_t)(end - path));
	folder[end - path] = 0;
	at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path),
		 "/proc/self/fd/%d/%.64s", at, end + 1);
	if (at < 0 || made < 0 ||
	    connect(made, (struct sockaddr *)&address, sizeof(address))) {
		if (made >= 0)
			close(made);
		made = -1;
	}
	if (at >= 0)
		close(at);
	return made;
}

static bool send_all(void)
{
	size_t size = plans.unsent_size;

	plans.unsent_size = 0;
	return gp_plans_write(plans.socket, plans.unsent, size);
}

static bool post_part(const void *bytes, size_t size)
{
	if (size > sizeof(plans.unsent) - plans.unsent_size && !send_all())
		return false;
	if (size > sizeof(plans.unsent))
		return gp_plans_write(plans.socket, bytes, size);
	if (size)
		memcpy(plans.unsent + plans.unsent_size, bytes, size);
	plans.unsent_size += size;
	return true;
}

static bool post_all(const struct gp_plans_request *request, const void *bytes)
{
	return post_part(request, sizeof(*request)) &&
	       post_part(bytes, request->bytes);
}

static bool exchange(const struct gp_plans_request *request, const void *bytes,
		     struct gp_plans_reply *reply)
{
	return post_all(request, bytes) && send_all() &&
	       gp_plans_read(plans.socket, reply, sizeof(*reply));
}

static bool read_why(uint32_t bytes)
{
	if (bytes >= sizeof(plans.why) ||
	    !gp_plans_read(plans.socket, plans.why, bytes))
		return false;
	plans.why[bytes] = 0;
	return true;
}

static void greet(void)
{
	struct gp_plans_request request = { .ask = GP_PLANS_HELLO };
	struct gp_plans_reply reply;

	if (!exchange(&request, NULL, &reply) || !read_why(reply.bytes)) {
		snprintf(plans.why, sizeof(plans.why),
			 "its process ended while loading it");
		return;
	}
	plans.version = (unsigned)reply.count;
	plans.can = !reply.status;
}

/* A forked process gets a connection of its own, in which its parent's
 * descriptors do not exist. */
static void begin(void)
{
	const char *path = getenv("SIMCUDA_PLANS");

	if (plans.socket >= 0)
		close(plans.socket);
	plans.socket = path && *path ? open_socket(path) : -1;
	plans.can = false;
	plans.given = 0;
	plans.unsent_size = 0;
	if (plans.socket >= 0)
		greet();
	plans.owner = getpid();
}

/* The thread that held it may not exist in the child. */
static void forget_lock(void)
{
	pthread_mutex_init(&plans.lock, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_lock);
}

static void lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&plans.lock);
	if (plans.owner != getpid())
		begin();
}

static void unlock(void)
{
	pthread_mutex_unlock(&plans.lock);
}

bool plans_can(void)
{
	bool can;

	lock();
	can = plans.can;
	unlock();
	return can;
}

unsigned plans_version(void)
{
	unsigned version;

	lock();
	version = plans.version;
	unlock();
	return version;
}

/* ---- requests ---- */

static void lose(void)
{
	plans.can = false;
	snprintf(plans.why, sizeof(plans.why),
		 "its process ended while answering");
}

/* Sends values and receives the elements of the reply. */
static int ask(const struct gp_plans_request *request, const void *in,
	       void *out, size_t room, int64_t *count)
{
	struct gp_plans_reply reply = { .status = GP_PLANS_NOT_SUPPORTED };

	lock();
	if (plans.can &&
	    !(exchange(request, in, &reply) && reply.bytes <= room &&
	      gp_plans_read(plans.socket, out, reply.bytes))) {
		lose();
		reply = (struct gp_plans_reply){
			.status = GP_PLANS_NOT_SUPPORTED
		};
	}
	unlock();
	if (count)
		*count = reply.count;
	return reply.status;
}

/* A request without reply. */
static void post(const struct gp_plans_request *request, const void *bytes)
{
	lock();
	if (plans.can && !post_all(request, bytes))
		lose();
	unlock();
}

uint32_t plans_create(int type)
{
	struct gp_plans_request request = { .ask = GP_PLANS_CREATE,
					    .name = type };

	lock();
	request.id = ++plans.last;
	unlock();
	post(&request, NULL);
	return request.id;
}

void plans_destroy(uint32_t id)
{
	struct gp_plans_request request = { .ask = GP_PLANS_DESTROY, .id = id };

	post(&request, NULL);
}

int plans_finalize(uint32_t id)
{
	struct gp_plans_request request = { .ask = GP_PLANS_FINALIZE,
					    .id = id };

	return ask(&request, NULL, NULL, 0, NULL);
}

static struct gp_plans_request about(enum gp_plans_ask ask, uint32_t id,
				     int name, int type, int64_t count)
{
	return (struct gp_plans_request){
		.ask = ask,
		.id = id,
		.name = name,
		.type = type,
		.count = count > 0 ? count : 0,
	};
}

int plans_set(uint32_t id, int name, int type, int64_t count,
	      const void *values)
{
	struct gp_plans_request request =
		about(GP_PLANS_SET, id, name, type, count);

	request.bytes = (uint64_t)request.count * gp_plans_element(type);
	if (request.bytes > GP_PLANS_MOST_BYTES || (request.bytes && !values))
		return GP_PLANS_BAD_PARAM;
	post(&request, values);
	return 0;
}

int plans_get(uint32_t id, int name, int type, int64_t room, int64_t *count,
	      void *values)
{
	struct gp_plans_request request =
		about(GP_PLANS_GET, id, name, type, values ? room : 0);
	uint64_t bytes = (uint64_t)request.count * gp_plans_element(type);

	if (bytes > GP_PLANS_MOST_BYTES)
		return GP_PLANS_BAD_PARAM;
	if (type == GP_PLANS_DESCRIPTOR) {
		request.bytes = bytes;
		return ask(&request, values, NULL, 0, count);
	}
	return ask(&request, NULL, values, bytes, count);
}

/* ---- the end ---- */

void plans_count(void)
{
	lock();
	plans.given++;
	unlock();
}

uint64_t plans_given(void)
{
	return plans.given;
}

const char *plans_why_not(void)
{
	return plans.why;
}
