/* SPDX-License-Identifier: MIT */
#include "simcuda/program/evaluate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "simcuda/program/collector.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/scripts.h"

typedef void object; /* PyObject and its like */

/* The functions of CPython 3.10 and later. */
#define FUNCTIONS(X)                                                           \
	X(int, PyGILState_Check, void)                                         \
	X(int, PyGILState_Ensure, void)                                        \
	X(void *, PyEval_SaveThread, void)                                     \
	X(void, PyEval_RestoreThread, void *)                                  \
	X(object *, PyDict_New, void)                                          \
	X(object *, PyDict_GetItemString, object *, const char *)              \
	X(void, PyErr_Clear, void)                                             \
	X(object *, PyObject_CallObject, object *, object *)                   \
	X(object *, PyTuple_New, int64_t)                                      \
	X(int, PyTuple_SetItem, object *, int64_t, object *)                   \
	X(object *, PyList_New, int64_t)                                       \
	X(int, PyList_SetItem, object *, int64_t, object *)                    \
	X(object *, PyLong_FromLongLong, long long)                            \
	X(unsigned long long, PyLong_AsUnsignedLongLong, object *)             \
	X(object *, PyFloat_FromDouble, double)                                \
	X(object *, PyBool_FromLong, long)                                     \
	X(object *, PyUnicode_FromString, const char *)                        \
	X(object *, PyByteArray_FromStringAndSize, const char *, int64_t)      \
	X(int, PyBytes_AsStringAndSize, object *, char **, int64_t *)          \
	X(object *, Py_BuildValue, const char *, ...)                          \
	X(void, Py_DecRef, object *)

static struct {
#define MEMBER(type, name, ...) type (*name)(__VA_ARGS__);
	FUNCTIONS(MEMBER)
#undef MEMBER
} py;

/* What the thread is to do: describe an operator, run it or check it. */
struct task {
	object **function;
	struct evaluation *of;
	struct operator_facts *facts;
	bool is_done;
	struct draws_place *draws; /* the caller's place */
};

static struct {
	pthread_mutex_t turn; /* held by the caller whose task it is */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct task *task; /* NULL: none */
	bool is_ready, is_running;
	struct torch_keys keys;
	object *describe, *run, *check, *begin;
} all = { .turn = PTHREAD_MUTEX_INITIALIZER,
	  .lock = PTHREAD_MUTEX_INITIALIZER,
	  .changed = PTHREAD_COND_INITIALIZER };

static _Thread_local bool is_here;

bool evaluate_is_here(void)
{
	return is_here;
}

/* ---- arguments for Python ---- */

static object *number(int64_t value)
{
	return py.PyLong_FromLongLong(value);
}

static object *tensor(const struct argument *a)
{
	const struct shape *s = &a->shape;
	int64_t bytes = (int64_t)(s->numel * tensors_element(s->dtype));
	object *sizes = py.PyTuple_New(s->dims);
	object *strides = py.PyTuple_New(s->dims);
	object *all_of_it = py.PyTuple_New(8);

	for (int i = 0; i < s->dims; i++) {
		py.PyTuple_SetItem(sizes, i, number(s->sizes[i]));
		py.PyTuple_SetItem(strides, i, number(s->strides[i]));
	}
	py.PyTuple_SetItem(all_of_it, 0,
			   a->bytes ? py.PyByteArray_FromStringAndSize(
					      (const char *)a->bytes, bytes)
				    : py.Py_BuildValue(""));
	py.PyTuple_SetItem(all_of_it, 1, number(s->dtype));
	py.PyTuple_SetItem(all_of_it, 2, sizes);
	py.PyTuple_SetItem(all_of_it, 3, number(s->is_device));
	py.PyTuple_SetItem(all_of_it, 4, strides);
	py.PyTuple_SetItem(all_of_it, 5, number((int64_t)s->addr));
	py.PyTuple_SetItem(all_of_it, 6, number(s->is_conjugated));
	py.PyTuple_SetItem(all_of_it, 7, number(s->is_negated));
	return all_of_it;
}

static object *list(const struct argument *items, size_t count);

static object *value(const struct argument *a)
{
	switch (a->kind) {
	case ARGUMENT_INT: return number(a->number);
	case ARGUMENT_REAL: return py.PyFloat_FromDouble(a->real);
	case ARGUMENT_BOOL: return py.PyBool_FromLong((long)a->number);
	case ARGUMENT_TEXT: return py.PyUnicode_FromString(a->text);
	case ARGUMENT_DEVICE: return py.PyTuple_New(0);
	case ARGUMENT_LIST: return list(a->items, a->count);
	case ARGUMENT_TENSOR: return tensor(a);
	default: return py.Py_BuildValue("");
	}
}

static object *list(const struct argument *items, size_t count)
{
	object *of = py.PyList_New((int64_t)count);

	for (size_t i = 0; i < count; i++)
		py.PyList_SetItem(of, (int64_t)i, value(&items[i]));
	return of;
}

/* ---- results from Python: words, and bytes padded to words ---- */

struct words {
	const char *at, *end;
};

static int64_t next(struct words *w)
{
	int64_t word = 0;

	if (w->end - w->at >= 8)
		memcpy(&word, w->at, 8);
	w->at += 8;
	return word;
}

static bool read_result(struct words *w, struct evaluated *e)
{
	enum { DOUBTED_TENSOR = 6 };
	int64_t kind = next(w);
	bool is_doubted = kind == DOUBTED_TENSOR;

	e->kind = is_doubted ? EVALUATED_TENSOR : (int)kind;
	if (e->kind == EVALUATED_REAL) {
		memcpy(&e->real, w->at, 8);
		next(w);
	} else if (e->kind != EVALUATED_TENSOR) {
		e->number = next(w);
	} else {
		e->is_doubted = is_doubted;
		e->shape.dtype = (int)next(w);
		e->shape.dims = (int)next(w);
		e->shape.numel = 1;
		if (e->shape.dims < 0 || e->shape.dims > MOST_DIMS)
			return false;
		for (int i = 0; i < e->shape.dims; i++) {
			e->shape.sizes[i] = next(w);
			e->shape.numel *= (uint64_t)e->shape.sizes[i];
		}
		e->bytes = (const unsigned char *)w->at;
		w->at +=
			(e->shape.numel * tensors_element(e->shape.dtype) + 7) /
			8 * 8;
	}
	return w->at <= w->end;
}

static void read_results(struct evaluation *e, const char *bytes, int64_t size)
{
	char *copy = arena_take(e->arena, (size_t)size + 8);
	struct words w = { copy, copy + size };
	struct evaluated *results;
	size_t count;

	memcpy(copy, bytes, (size_t)size);
	count = (size_t)next(&w);
	results = arena_take(e->arena, (count + 1) * sizeof(*results));
	memset(results, 0, (count + 1) * sizeof(*results));
	for (size_t i = 0; i < count; i++)
		if (!read_result(&w, &results[i]))
			return;
	e->results = results;
	e->result_count = count;
}

/* In the order of the flags in evaluate.py. */
static void read_facts(struct operator_facts *facts, const char *bytes,
		       int64_t size)
{
	struct words w = { bytes, bytes + size };
	bool *const flags[] = {
		&facts->computes,
		&facts->is_silent,
		&facts->writes_any,
		&facts->asks_size,
		&facts->is_scalar,
		&facts->is_random,
		&facts->reads.is_decisive,
		&facts->is_check,
		&facts->asserts,
		&facts->orders,
		&facts->denies,
		&facts->samples,
		&facts->is_of_all,
		&facts->counts,
		&facts->reads.is_sparse,
		&facts->is_by_element,
		&facts->scales,
		&facts->reads.is_costly,
		&facts->reads.multiplies,
		&facts->is_fresh,
		&facts->succeeds,
		&facts->finds_any,
		&facts->is_each,
		&facts->reads.takes_as_read,
		&facts->gives_places,
		&facts->is_one_number,
		&facts->has_first_step,
		&facts->saves_rest,
		&facts->stands_in,
	};
	uint64_t set = (uint64_t)next(&w);

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		*flags[i] = set >> i & 1;
	facts->writes = (uint32_t)next(&w);
	facts->reads.unread = (uint32_t)next(&w);
	facts->reads.if_known = (uint32_t)next(&w);
	facts->reads.partly = (uint32_t)next(&w);
	facts->asserted = (uint32_t)next(&w);
	facts->arguments = (uint32_t)next(&w);
	facts->returns = (uint32_t)next(&w);
}

/* ---- the thread ---- */

static object *call(object *function, const struct evaluation *e)
{
	object *parameters = py.PyTuple_New(e->arguments ? 3 : 2), *result;

	py.PyTuple_SetItem(parameters, 0,
			   py.PyUnicode_FromString(e->name->name));
	py.PyTuple_SetItem(parameters, 1,
			   py.PyUnicode_FromString(e->name->overload));
	if (e->arguments)
		py.PyTuple_SetItem(parameters, 2,
				   list(e->arguments, e->argument_count));
	result = py.PyObject_CallObject(function, parameters);
	if (!result)
		py.PyErr_Clear();
	py.Py_DecRef(parameters);
	return result;
}

static void work(struct task *task)
{
	struct collector collector = collector_stop();
	object *result = call(*task->function, task->of);
	char *bytes;
	int64_t size;

	if (result && !py.PyBytes_AsStringAndSize(result, &bytes, &size)) {
		if (task->facts)
			read_facts(task->facts, bytes, size);
		else
			read_results(task->of, bytes, size);
		task->is_done = true;
	}
	py.PyErr_Clear();
	if (result)
		py.Py_DecRef(result);
	if (task->facts)
		collector_discount(&collector);
	collector_go_on(&collector);
}

static void *serve(void *unused)
{
	void *state;
	object *begun;

	is_here = true;
	py.PyGILState_Ensure();
	begun = py.PyObject_CallObject(all.begin, NULL);
	py.PyErr_Clear();
	if (begun)
		py.Py_DecRef(begun);
	state = py.PyEval_SaveThread();
	pthread_mutex_lock(&all.lock);
	for (;;) {
		while (!all.task)
			pthread_cond_wait(&all.changed, &all.lock);
		py.PyEval_RestoreThread(state);
		work(all.task);
		state = py.PyEval_SaveThread();
		all.task = NULL;
		pthread_cond_broadcast(&all.changed);
	}
	return unused;
}

/* ---- the callers ---- */

/* Waits without holding the GIL, which the thread needs. */
static void wait_for(struct task *task)
{
	void *state = py.PyGILState_Check() ? py.PyEval_SaveThread() : NULL;

	pthread_mutex_lock(&all.turn);
	if (all.is_ready) {
		pthread_mutex_lock(&all.lock);
		if (!all.is_running)
			all.is_running =
				!pthread_create(&all.thread, NULL, serve, NULL);
		all.task = all.is_running ? task : NULL;
		pthread_cond_broadcast(&all.changed);
		while (all.task)
			pthread_cond_wait(&all.changed, &all.lock);
		pthread_mutex_unlock(&all.lock);
	}
	pthread_mutex_unlock(&all.turn);
	if (state)
		py.PyEval_RestoreThread(state);
}

bool evaluate_describe(const struct operator_name *name,
		       struct operator_facts *facts)
{
	struct evaluation evaluation = { .name = name };
	struct task task = { .function = &all.describe,
			     .of = &evaluation,
			     .facts = facts };

	memset(facts, 0, sizeof(*facts));
	if (all.is_ready)
		wait_for(&task);
	return task.is_done;
}

static void perform(object **function, struct evaluation *evaluation)
{
	struct task task = { .function = function,
			     .of = evaluation,
			     .draws = draws_place() };

	evaluation->results = NULL;
	evaluation->result_count = 0;
	evaluation->is_drawn = false;
	if (all.is_ready)
		wait_for(&task);
}

void evaluate(struct evaluation *evaluation)
{
	perform(&all.run, evaluation);
}

bool evaluate_fails(struct evaluation *evaluation)
{
	perform(&all.check, evaluation);
	return evaluation->result_count && evaluation->results->number;
}

/* ---- the beginning and the end ---- */

void simcuda_evaluate_stop(void)
{
	all.is_ready = false;
}

/* The thread does not exist in a forked child. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&all.turn, NULL);
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.changed, NULL);
	all.is_running = false;
	all.task = NULL;
}

static bool find_interpreter(void)
{
	bool is_there = true;

#define FIND(type, name, ...)                                                  \
	*(void **)&py.name = dlsym(RTLD_DEFAULT, #name);                       \
	is_there &= py.name != NULL;
	FUNCTIONS(FIND)
#undef FIND
	return is_there;
}

uint64_t simcuda_draws_seed(void)
{
	all.task->of->is_drawn = true;
	return draws_seed(all.task->draws);
}

void simcuda_generator(struct generator *to)
{
	*to = *all.task->of->generator;
}

uint64_t simcuda_random_numbers(const struct generator *generator,
				const struct random_numbers *numbers, void *to)
{
	return random_numbers(generator, numbers, to);
}

void simcuda_flash_numbers(const struct generator *generator,
			   const struct flash_weights *weights, void *to)
{
	random_flash(generator, weights, to);
}

const struct torch_keys *evaluate_keys(void)
{
	return &all.keys;
}

static uint64_t key(object *globals, const char *name)
{
	object *value = py.PyDict_GetItemString(globals, name);

	return value ? py.PyLong_AsUnsignedLongLong(value) : 0;
}

bool evaluate_prepare(void)
{
	object *globals;
	bool are_run;

	if (!find_interpreter())
		return false;
	globals = py.PyDict_New();
	are_run = interpreter_run(globals, gp_evaluate_py) &&
		  interpreter_run(globals, gp_device_only_py) &&
		  interpreter_run(globals, gp_differing_py) &&
		  interpreter_run(globals, gp_random_numbers_py) &&
		  interpreter_run(globals, gp_asserting_py);
	all.describe = py.PyDict_GetItemString(globals, "describe");
	all.run = py.PyDict_GetItemString(globals, "run");
	all.check = py.PyDict_GetItemString(globals, "check");
	all.begin = py.PyDict_GetItemString(globals, "begin");
	all.is_ready =
		are_run && all.describe && all.run && all.check && all.begin;
	if (!all.is_ready)
		return false;
	all.keys = (struct torch_keys){
		.not_plain = key(globals, "not_plain"),
		.conjugated = key(globals, "conjugated"),
		.negated = key(globals, "negated"),
	};
	pthread_atfork(NULL, NULL, after_fork_in_child);
	return true;
}
