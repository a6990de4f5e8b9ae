/* SPDX-License-Identifier: MIT */
/* The dialogue about plans: the calls of cuDNN by a recorded program reach the
 * library at the other end of a socket, and its answers are returned. */
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/plans.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/plans.h"
#include "suite.h"

enum { HEURISTICS = 4, PLAN = 5, VARIANT_PACK = 16 };
enum { RESULTS = 202, CONFIG = 401, HANDLE = 400, WORKSPACE = 402 };
enum { INT64 = 3, DESCRIPTOR = 15 };
enum { DEVICE_OF_PLAN = 407 };

/* No program is recorded here, so nobody asks who owns memory. */
void owners_workspace(enum owners_library library, uint64_t addr)
{
	(void)library, (void)addr;
}

/* ---- a library ---- */

struct object {
	int type;
	int64_t number;
	const struct object *config, *device;
	bool has_handle, is_final;
};

static struct object device;
static int live;

static int create(int type, void **descriptor)
{
	struct object *o;

	if (type > 50)
		return GP_PLANS_BAD_PARAM;
	o = calloc(1, sizeof(*o));
	o->type = type;
	live++;
	*descriptor = o;
	return 0;
}

static int destroy(void *descriptor)
{
	free(descriptor);
	live--;
	return 0;
}

static int set(void *descriptor, int name, int type, int64_t count,
	       const void *values)
{
	struct object *o = descriptor;

	if (type == GP_PLANS_HANDLE)
		o->has_handle = true;
	if (name == DEVICE_OF_PLAN)
		memcpy(&o->device, values, sizeof(o->device));
	if (name == CONFIG)
		memcpy(&o->config, values, sizeof(o->config));
	return count == 1 ? 0 : GP_PLANS_BAD_PARAM;
}

static int finalize(void *descriptor)
{
	struct object *o = descriptor;

	if (o->is_final || o->has_handle)
		return GP_PLANS_BAD_PARAM;
	o->is_final = true;
	return o->type != PLAN || o->device == &device ? 0
						       : GP_PLANS_NOT_SUPPORTED;
}

static int get(void *descriptor, int name, int type, int64_t room,
	       int64_t *count, void *values)
{
	const struct object *o = descriptor;

	(void)type;
	if (name == RESULTS) {
		*count = 2;
		for (int64_t i = 0; i < room && i < 2; i++)
			((struct object **)values)[i]->number = 100 + i;
		return 0;
	}
	if (name != WORKSPACE || !o->config)
		return GP_PLANS_BAD_PARAM;
	*count = 1;
	if (room)
		memcpy(values, &o->config->number, sizeof(int64_t));
	return 0;
}

static size_t version(void)
{
	return 91002;
}

static const struct gp_plans_library library = {
	.create = create,
	.destroy = destroy,
	.set = set,
	.get = get,
	.finalize = finalize,
	.version = version,
	.device = &device,
};

/* ---- the other end ---- */

static char folder[] = "/tmp/gpupool-plans-XXXXXX";
static pthread_t answering;
static int listener;

static void *answer(void *unused)
{
	int connection = accept(listener, NULL, NULL);

	gp_plans_answer(&library, connection);
	close(connection);
	return unused;
}

static void listen_here(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	ck_assert(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/plans",
		 folder);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert(
		!bind(listener, (struct sockaddr *)&address, sizeof(address)));
	ck_assert(!listen(listener, 1));
	setenv("SIMCUDA_PLANS", address.sun_path, 1);
	pthread_create(&answering, NULL, answer, NULL);
}

static void clean_up(void)
{
	char path[sizeof(folder) + 8];

	snprintf(path, sizeof(path), "%s/plans", folder);
	unlink(path);
	rmdir(folder);
	close(listener);
}

/* ---- the calls of PyTorch ---- */

int cudnnBackendCreateDescriptor(int type, void **descriptor);
int cudnnBackendDestroyDescriptor(void *descriptor);
int cudnnBackendFinalize(void *descriptor);
int cudnnBackendSetAttribute(void *descriptor, int name, int type,
			     int64_t count, const void *values);
int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t room,
			     int64_t *count, void *values);

static void *made(int type)
{
	void *descriptor = NULL;

	ck_assert_int_eq(cudnnBackendCreateDescriptor(type, &descriptor), 0);
	return descriptor;
}

START_TEST(test_a_plan_has_the_librarys_workspace)
{
	void *heuristics, *configs[2], *plan, *none;
	int64_t count = 0, workspace = -1;

	listen_here();
	heuristics = made(HEURISTICS);
	configs[0] = made(3);
	configs[1] = made(3);
	ck_assert_int_eq(cudnnBackendGetAttribute(heuristics, RESULTS,
						  DESCRIPTOR, 0, &count, NULL),
			 0);
	ck_assert_int_eq(count, 2);
	ck_assert_int_eq(cudnnBackendGetAttribute(heuristics, RESULTS,
						  DESCRIPTOR, 2, &count,
						  configs),
			 0);
	plan = made(PLAN);
	ck_assert_int_eq(cudnnBackendSetAttribute(plan, CONFIG, DESCRIPTOR, 1,
						  &configs[1]),
			 0);
	ck_assert_int_eq(cudnnBackendSetAttribute(plan, HANDLE, GP_PLANS_HANDLE,
						  1, &plan),
			 0);
	ck_assert_int_eq(cudnnBackendFinalize(plan), 0);
	ck_assert_int_eq(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1,
						  &count, &workspace),
			 0);
	ck_assert_int_eq(workspace, 101);
	ck_assert_uint_eq(plans_given(), 1);
	ck_assert_uint_eq(plans_version(), 91002);
	cudnnBackendDestroyDescriptor(heuristics);
	cudnnBackendDestroyDescriptor(configs[0]);
	cudnnBackendDestroyDescriptor(configs[1]);
	cudnnBackendDestroyDescriptor(plan);
	/* They are sent with the next call that has a reply. */
	none = made(51);
	ck_assert_int_eq(cudnnBackendFinalize(none), GP_PLANS_BAD_PARAM);
	cudnnBackendDestroyDescriptor(none);
	ck_assert_int_eq(live, 0);
	clean_up();
}
END_TEST

START_TEST(test_the_librarys_refusals_come_back)
{
	void *plan, *none;
	int64_t count, two[2] = { 0 };

	listen_here();
	plan = made(PLAN);
	ck_assert_int_eq(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1,
						  &count, two),
			 GP_PLANS_BAD_PARAM);
	ck_assert_int_eq(cudnnBackendFinalize(plan), 0);
	ck_assert_int_eq(cudnnBackendFinalize(plan), GP_PLANS_BAD_PARAM);
	ck_assert_int_eq(cudnnBackendDestroyDescriptor(plan), 0);
	/* Calls that failed are reported when the descriptor is finalized. */
	plan = made(PLAN);
	ck_assert_int_eq(cudnnBackendSetAttribute(plan, 1, INT64, 2, two), 0);
	ck_assert_int_eq(cudnnBackendSetAttribute(plan, 1, INT64, 1, two), 0);
	ck_assert_int_eq(cudnnBackendFinalize(plan), GP_PLANS_BAD_PARAM);
	none = made(51);
	ck_assert_int_eq(cudnnBackendFinalize(none), GP_PLANS_BAD_PARAM);
	cudnnBackendDestroyDescriptor(none);
	cudnnBackendDestroyDescriptor(plan);
	clean_up();
}
END_TEST

/* More than is sent at once, some of it as a single value. */
START_TEST(test_much_is_told)
{
	enum { PLANS = 5000, LARGE = 100000 };
	static char large[LARGE];
	void *plan, *last = NULL;

	listen_here();
	for (int i = 0; i < PLANS; i++) {
		plan = made(PLAN);
		if (last)
			cudnnBackendDestroyDescriptor(last);
		last = plan;
	}
	ck_assert_int_eq(
		cudnnBackendSetAttribute(last, 1, GP_PLANS_CHAR, LARGE, large),
		0);
	ck_assert_int_eq(cudnnBackendFinalize(last), GP_PLANS_BAD_PARAM);
	ck_assert_int_eq(live, 1);
	cudnnBackendDestroyDescriptor(last);
	clean_up();
}
END_TEST

/* The variables of a plan are not sent. */
START_TEST(test_variant_packs_stay_here)
{
	int before = live;
	void *pack;

	listen_here();
	pack = made(VARIANT_PACK);
	ck_assert_int_eq(cudnnBackendSetAttribute(pack, 1001, 6, 1, &pack), 0);
	ck_assert_int_eq(cudnnBackendFinalize(pack), 0);
	ck_assert_int_eq(live, before);
	cudnnBackendDestroyDescriptor(pack);
	clean_up();
}
END_TEST

START_TEST(test_a_library_that_ends_gives_way_to_the_stand_in)
{
	int64_t count, workspace = -1;
	void *plan;

	listen_here();
	plan = made(PLAN);
	ck_assert(plans_can());
	/* Invalid data: the other end closes the connection. */
	ck_assert_int_eq(plans_set(1, 1, 99, INT64_MAX / 8, &count),
			 GP_PLANS_BAD_PARAM);
	ck_assert(plans_can());
	shutdown(listener, SHUT_RDWR);
	for (int i = 3; i < 64; i++) /* whichever it is */
		if (i != listener)
			shutdown(i, SHUT_RDWR);
	ck_assert_int_eq(cudnnBackendFinalize(plan), GP_PLANS_NOT_SUPPORTED);
	ck_assert(!plans_can());
	ck_assert_int_eq(cudnnBackendFinalize(plan), 0);
	ck_assert_int_eq(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1,
						  &count, &workspace),
			 0);
	ck_assert_int_eq(workspace, 0);
	ck_assert_str_eq(plans_why_not(), "its process ended while answering");
	cudnnBackendDestroyDescriptor(plan);
	pthread_join(answering, NULL);
	ck_assert_int_eq(live, 0);
	clean_up();
}
END_TEST

START_TEST(test_without_a_library_the_stand_in_answers)
{
	int64_t count, workspace = -1;
	void *plan;

	unsetenv("SIMCUDA_PLANS");
	plan = made(PLAN);
	ck_assert_int_eq(cudnnBackendGetAttribute(plan, WORKSPACE, INT64, 1,
						  &count, &workspace),
			 0);
	ck_assert_int_eq(workspace, 0);
	ck_assert_uint_eq(plans_version(), 0);
	ck_assert_str_eq(plans_why_not(), "");
	cudnnBackendDestroyDescriptor(plan);
}
END_TEST

/* ---- requests that programs do not make ---- */

static bool are_answered(const struct gp_plans_request *requests, size_t count,
			 struct gp_plans_reply *reply)
{
	int ends[2];
	bool is_good;
	pid_t pid;

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	pid = fork();
	if (!pid) {
		close(ends[0]);
		gp_plans_answer(&library, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	ck_assert(gp_plans_write(ends[0], requests, count * sizeof(*requests)));
	is_good = gp_plans_read(ends[0], reply, sizeof(*reply));
	close(ends[0]);
	return is_good;
}

START_TEST(test_nonsense_is_hung_up_on_or_refused)
{
	static const struct gp_plans_request nonsense[] = {
		{ .ask = GP_PLANS_SET, .id = 1, .type = INT64, .count = -1 },
		{ .ask = GP_PLANS_SET, .id = 1, .type = INT64, .count = 1 },
		{ .ask = GP_PLANS_SET,
		  .id = 1,
		  .type = INT64,
		  .count = INT64_MAX,
		  .bytes = 8 },
		{ .ask = GP_PLANS_GET,
		  .id = 1,
		  .type = INT64,
		  .count = INT64_MAX },
		{ .ask = GP_PLANS_CREATE, .bytes = UINT64_MAX },
	};
	static const struct gp_plans_request refused[][2] = {
		{ { .ask = GP_PLANS_CREATE, .id = UINT32_MAX, .name = PLAN },
		  { .ask = GP_PLANS_FINALIZE, .id = UINT32_MAX } },
		{ { .ask = GP_PLANS_DESTROY, .id = 7 },
		  { .ask = GP_PLANS_FINALIZE, .id = 7 } },
		{ { .ask = GP_PLANS_CREATE, .id = 1, .name = PLAN },
		  { .ask = 99, .id = 1 } },
	};
	struct gp_plans_reply reply;

	for (size_t i = 0; i < COUNT_OF(nonsense); i++)
		ck_assert(!are_answered(&nonsense[i], 1, &reply));
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		ck_assert(are_answered(refused[i], 2, &reply));
		ck_assert_int_eq(reply.status, GP_PLANS_BAD_PARAM);
	}
}
END_TEST

/* ---- the description ---- */

/* Required by cuDNN 9.10 and 9.26. */
static const char *const described[] = {
	"maxGridSize",
	"maxBlockSize",
	"regsPerBlock",
	"multiProcessorCount",
	"warpSize",
	"maxSharedMemoryPerBlock",
	"maxSharedMemoryPerBlockOptin",
	"reservedSharedMemoryPerBlock",
	"oversizedSharedMemoryPerBlock",
	"maxRegistersPerSM",
	"maxCtasPerSM",
	"maxThreadsPerBlock",
	"maxThreadsPerSM",
	"pciDeviceId",
	"isTccDriver",
	"supportCoopLaunch",
	"totalGlobalMem",
	"smClockRateKHz",
	"memClockRateKHz",
	"memoryBusWidth",
	"l2CacheSize",
	"cudaDeviceId",
	"deviceVer",
	"driverVer",
	"deviceName",
};

START_TEST(test_every_device_is_described)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++) {
		char text[2048];
		size_t size =
			gp_plans_describe(&gpus[i], 13, text, sizeof(text));
		json_t *json = json_loadb(text, size, 0, NULL);

		for (size_t k = 0; k < COUNT_OF(described); k++)
			ck_assert_msg(json_object_get(json, described[k]),
				      "%s of %s", described[k], gpus[i].name);
		ck_assert_int_eq(
			json_integer_value(json_object_get(json, "deviceVer")),
			gpus[i].properties.major * 100 +
				gpus[i].properties.minor * 10);
		json_decref(json);
	}
}
END_TEST

/* ---- on a Hopper ---- */

/* The gradient of a 3 by 3 filter between 128 channels. */
#define GRADIENT(type, knobs)                                                  \
	"{\"operationGraph\":{\"tensors\":["                                   \
	"{\"name\":\"1\",\"dataType\":\"CUDNN_DATA_" type                      \
	"\",\"dim\":[32,128,28,28],\"stride\":[100352,1,3584,128]},"           \
	"{\"name\":\"2\",\"dim\":[128,128,3,3]},"                              \
	"{\"name\":\"3\",\"dim\":[32,128,28,28]}],\"nodes\":[{\"operation\":"  \
	"\"CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR\","  \
	"\"pad\":[1,1],\"stride\":[1,1],"                                      \
	"\"X\":\"1\",\"dW\":\"2\",\"dY\":\"3\"}]},"                            \
	"\"engine\":{\"knobChoices\":{" knobs "}}}"
#define KNOBS(size, n, workspace)                                              \
	"\"CUDNN_KNOB_TYPE_TILE_SIZE\":" #size                                 \
	",\"CUDNN_KNOB_TYPE_TILE_CGA_M\":1,\"CUDNN_KNOB_TYPE_TILE_CGA_N\":" #n \
	",\"CUDNN_KNOB_TYPE_WORKSPACE\":" #workspace

START_TEST(test_a_plan_is_that_beside_a_hopper)
{
	/* As an H100 answered, and as cuDNN 9.19 answers without one. */
	static const struct {
		const char *plan;
		int64_t without, beside;
	} rows[] = {
		{ GRADIENT("FLOAT", KNOBS(0, 1, 0)), 1179843, 8258199 },
		{ GRADIENT("FLOAT", KNOBS(0, 2, 0)), 0, 8520399 },
		{ GRADIENT("HALF", KNOBS(1, 3, 0)), 0, 3539535 },
		{ GRADIENT("BFLOAT16", KNOBS(1, 3, 0)), 0, 2359671 },
		{ GRADIENT("BFLOAT16", KNOBS(1, 3, 1)), 0, 0 },
		/* Other engines, types and sizes. */
		{ GRADIENT("HALF", KNOBS(99, 3, 0)), 7, 7 },
		{ GRADIENT("HALF", KNOBS(1, 17, 0)), 7, 7 },
		{ GRADIENT("HALF", KNOBS(-1, 1, 0)), 7, 7 },
		{ GRADIENT("HALF", ""), 7, 7 },
		{ GRADIENT("DOUBLE", KNOBS(1, 3, 0)), 7, 7 },
		{ "", 7, 7 },
		{ "[]", 7, 7 },
		{ "{\"operationGraph\":{\"nodes\":[{}]}}", 7, 7 },
		{ "{\"operationGraph\":{\"nodes\":[{\"operation\":"
		  "\"CONVOLUTION_FORWARD\"}]}}",
		  7, 7 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_int_eq(gp_plans_beside_hopper(rows[i].plan,
							strlen(rows[i].plan),
							true, rows[i].without),
				 rows[i].beside);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_plan_is_that_beside_a_hopper, 0 },
		{ test_a_plan_has_the_librarys_workspace, 0 },
		{ test_the_librarys_refusals_come_back, 0 },
		{ test_much_is_told, 0 },
		{ test_variant_packs_stay_here, 0 },
		{ test_a_library_that_ends_gives_way_to_the_stand_in, 0 },
		{ test_without_a_library_the_stand_in_answers, 0 },
		{ test_nonsense_is_hung_up_on_or_refused, 0 },
		{ test_every_device_is_described, 0 },
	};

	return suite_run("plans", tests, COUNT_OF(tests));
}
