/* SPDX-License-Identifier: MIT */
#include "simcuda/program/interpreter.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "simcuda/kept.h"
#include "simcuda/memory.h"
#include "simcuda/process.h"
#include "simcuda/program/collector.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/guesses.h"
#include "simcuda/program/operators.h"
#include "simcuda/program/recorder.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/torch.h"

#define FILE_INPUT   257 /* Py_file_input */
#define TRACE_CALL   0	 /* PyTrace_CALL, PyTrace_RETURN */
#define TRACE_RETURN 3
#define MOST_FRAMES  64

typedef void object; /* PyObject and its like */

/* The functions of CPython 3.9 and later. */
#define FUNCTIONS(X)                                                           \
	X(int, Py_IsInitialized, void)                                         \
	X(int, PyGILState_Check, void)                                         \
	X(int, PyGILState_Ensure, void)                                        \
	X(void, PyGILState_Release, int)                                       \
	X(object *, PyGILState_GetThisThreadState, void)                       \
	X(int, Py_AddPendingCall, int (*)(void *), void *)                     \
	X(object *, PyDict_New, void)                                          \
	X(object *, Py_CompileString, const char *, const char *, int)         \
	X(object *, PyEval_EvalCode, object *, object *, object *)             \
	X(object *, PyEval_GetBuiltins, void)                                  \
	X(int, PyDict_SetItemString, object *, const char *, object *)         \
	X(void, PyErr_Clear, void)                                             \
	X(void, PyEval_SetProfile, int (*)(object *, object *, int, object *), \
	  object *)                                                            \
	X(object *, PyThreadState_GetFrame, object *)                          \
	X(object *, PyInterpreterState_Main, void)                             \
	X(object *, PyInterpreterState_ThreadHead, object *)                   \
	X(object *, PyThreadState_Next, object *)                              \
	X(object *, PyFrame_GetBack, object *)                                 \
	X(object *, PyFrame_GetCode, object *)                                 \
	X(int, PyFrame_GetLineNumber, object *)                                \
	X(object *, PyObject_GetAttrString, object *, const char *)            \
	X(const char *, PyUnicode_AsUTF8, object *)                            \
	X(object *, PyMapping_GetItemString, object *, const char *)           \
	X(double, PyFloat_AsDouble, object *)                                  \
	X(void, PyDict_Clear, object *)                                        \
	X(void, Py_DecRef, object *)

static struct {
#define MEMBER(type, name, ...) type (*name)(__VA_ARGS__);
	FUNCTIONS(MEMBER)
#undef MEMBER
} py;

static struct {
	struct interpreter_wishes wishes;
	bool is_there;	     /* the interpreter and all required functions */
	struct gp_map codes; /* code object -> 1: the step function's */
	pthread_mutex_t lock;
	struct gp_map sites; /* frame and caller, or a node -> index */
	uint32_t site_count;
} program = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

/* ---- marks ---- */

void simcuda_mark(const char *name, int stage)
{
	static const char *const stages[] = { "", ",\"stage\":\"start\"",
					      ",\"stage\":\"end\"" };

	for (int i = 0; i < process.device_count; i++) {
		if (i && !entries_device_is_used(i))
			continue;
		if (!recorder_begin("mark", i))
			return;
		entries_put(",\"name\":");
		recorder_put_text(name);
		entries_put("%s", stages[stage % 3]);
		recorder_end();
	}
}

/* ---- scripts ---- */

/* Scripts get a file name in a folder of PyTorch's: such files are skipped in
 * the search for the program's own line, and torch.compile ignores them. */
static const char *script_file(void)
{
	static char file[PATH_MAX + 32];
	char folder[PATH_MAX];

	if (!torch_folder(folder, sizeof(folder)))
		snprintf(folder, sizeof(folder), "/torch");
	snprintf(file, sizeof(file), "%s/cuda/gpupool", folder);
	return file;
}

bool interpreter_run(void *globals, const char *script)
{
	object *code = py.Py_CompileString(script, script_file(), FILE_INPUT);
	object *result = NULL;

	if (code) {
		/* As in a module: torch.compile looks for them. */
		py.PyDict_SetItemString(globals, "__builtins__",
					py.PyEval_GetBuiltins());
		result = py.PyEval_EvalCode(code, globals, globals);
		py.Py_DecRef(code);
	}
	py.PyErr_Clear();
	if (result)
		py.Py_DecRef(result);
	return result != NULL;
}

/* The globals are kept, as the script's functions use them. */
static void run_script(const char *script)
{
	interpreter_run(py.PyDict_New(), script);
}

/* ---- steps: calls of one function ---- */

static bool text_is(object *owner, const char *name, const char *text)
{
	object *value = py.PyObject_GetAttrString(owner, name);
	const char *is = value ? py.PyUnicode_AsUTF8(value) : NULL;
	bool same = is && !strcmp(is, text);

	if (!is)
		py.PyErr_Clear();
	if (value)
		py.Py_DecRef(value);
	return same;
}

/* The code object is kept, so that its address is not reused. */
static bool is_step(object *frame)
{
	object *code = py.PyFrame_GetCode(frame);
	uint32_t known = gp_map_get(&program.codes, (uintptr_t)code);

	if (known != GP_MAP_NONE) {
		py.Py_DecRef(code);
		return known;
	}
	known = text_is(code, "co_name", program.wishes.steps) ||
		text_is(code, "co_qualname", program.wishes.steps);
	gp_map_put(&program.codes, (uintptr_t)code, known);
	return known;
}

static int on_call(object *self, object *frame, int what, object *argument)
{
	(void)self;
	(void)argument;
	if ((what == TRACE_CALL || what == TRACE_RETURN) && is_step(frame))
		simcuda_mark(program.wishes.steps, what == TRACE_CALL ? 1 : 2);
	return 0;
}

/* The frame that called this one, which is released; NULL: none did. */
static object *caller_of(object *frame)
{
	object *back = py.PyFrame_GetBack(frame);

	py.Py_DecRef(frame);
	return back;
}

/* A call of the function may already be under way. */
static void begin_steps(void)
{
	object *frame =
		py.PyThreadState_GetFrame(py.PyGILState_GetThisThreadState());
	bool is_inside = false;

	for (; frame; frame = caller_of(frame))
		is_inside |= is_step(frame);
	if (is_inside)
		simcuda_mark(program.wishes.steps, 1);
	py.PyEval_SetProfile(on_call, NULL);
}

/* ---- stacks ---- */

struct place {
	object *code;
	int line;
};

/* Innermost first. A garbage collection would run the program's finalizers
 * here, which may request memory themselves. */
static size_t walk(struct place places[MOST_FRAMES])
{
	struct collector collector = collector_stop();
	object *frame =
		py.PyThreadState_GetFrame(py.PyGILState_GetThisThreadState());
	size_t count = 0;

	for (; frame && count < MOST_FRAMES; frame = caller_of(frame)) {
		places[count].code = py.PyFrame_GetCode(frame);
		places[count++].line = py.PyFrame_GetLineNumber(frame);
	}
	if (frame)
		py.Py_DecRef(frame);
	collector_go_on(&collector);
	return count;
}

/* The backward node that this thread runs; NULL: none. Borrowed. */
static _Thread_local const char *node_name;

void interpreter_set_node(const char *name)
{
	node_name = name;
}

static void put_site(const char *text, uint32_t caller)
{
	if (!recorder_enter())
		return;
	entries_put("{\"sites\":[");
	recorder_put_text(text);
	if (caller == NO_SITE)
		entries_put("],\"callers\":[-1]}\n");
	else
		entries_put("],\"callers\":[%" PRIu32 "]}\n", caller - 1);
	recorder_leave();
}

static void put_place(const struct place *place, uint32_t caller)
{
	object *file = py.PyObject_GetAttrString(place->code, "co_filename");
	object *name = py.PyObject_GetAttrString(place->code, "co_name");
	const char *texts[] = { file ? py.PyUnicode_AsUTF8(file) : NULL,
				name ? py.PyUnicode_AsUTF8(name) : NULL };
	char text[PATH_MAX + 300];

	snprintf(text, sizeof(text), "%.*s:%d %.200s", PATH_MAX,
		 texts[0] ? texts[0] : "?", place->line,
		 texts[1] ? texts[1] : "?");
	py.PyErr_Clear();
	put_site(text, caller);
	if (file)
		py.Py_DecRef(file);
	if (name)
		py.Py_DecRef(name);
}

/* The site of that key; false: it is new, and has to be written. */
static bool find_site(uint64_t key, uint32_t *site)
{
	*site = gp_map_get(&program.sites, key);
	if (*site != GP_MAP_NONE)
		return true;
	*site = ++program.site_count;
	gp_map_put(&program.sites, key, *site);
	return false;
}

/* Takes ownership of the place's code object; it is kept if the site is new. */
static uint32_t site_of(const struct place *place, uint32_t caller)
{
	uint64_t key = gp_hash64(gp_hash64((uintptr_t)place->code ^
					   (uint64_t)place->line << 48) ^
				 caller);
	uint32_t site;

	if (find_site(key, &site))
		py.Py_DecRef(place->code);
	else
		put_place(place, caller);
	return site;
}

static uint32_t site_of_node(void)
{
	uint64_t key = 0;
	uint32_t site;

	for (const char *c = node_name; *c; c++)
		key = gp_hash64(key ^ (unsigned char)*c);
	if (!find_site(key, &site))
		put_site(node_name, NO_SITE);
	return site;
}

static uint32_t site_of_stack(const struct place *places, size_t count)
{
	uint32_t site = NO_SITE;

	while (count--)
		site = site_of(&places[count], site);
	return site;
}

uint32_t interpreter_site(void)
{
	struct place places[MOST_FRAMES];
	size_t count = 0;
	uint32_t site;
	bool runs_python;
	int state = 0;

	if (!program.is_there || !program.wishes.has_stacks)
		return NO_SITE;
	runs_python = py.PyGILState_GetThisThreadState() != NULL;
	if (runs_python) {
		state = py.PyGILState_Ensure();
		count = walk(places);
	}
	pthread_mutex_lock(&program.lock);
	site = site_of_stack(places, count);
	if (site == NO_SITE && node_name)
		site = site_of_node();
	pthread_mutex_unlock(&program.lock);
	if (runs_python)
		py.PyGILState_Release(state);
	return site;
}

/* ---- the line being executed ---- */

enum whose { PYTORCHS, A_LIBRARYS, THE_PROGRAMS };

/* Inductor names a compiled file "c" followed by a hash of 51 characters. */
static bool is_compiled(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && name[1] == 'c' &&
	       strspn(name + 1, "abcdefghijklmnopqrstuvwxyz234567") == 52 &&
	       !strcmp(name + 53, ".py");
}

/* `parts` ends with NULL. */
static bool has_any(const char *path, const char *const *parts)
{
	while (*parts && !strstr(path, *parts))
		parts++;
	return *parts;
}

static enum whose whose_is(const char *path)
{
	static const char *const libraries[] = { "/site-packages/",
						 "/dist-packages/",
						 "/lib/python", NULL };

	if (strstr(path, "/torch/") || is_compiled(path))
		return PYTORCHS;
	return *path == '<' || has_any(path, libraries) ? A_LIBRARYS
							: THE_PROGRAMS;
}

/* A new reference; NULL: there is none. */
static object *file_of(object *frame)
{
	object *code = py.PyFrame_GetCode(frame);
	object *file = py.PyObject_GetAttrString(code, "co_filename");

	py.Py_DecRef(code);
	return file;
}

/* Whether values that this file's functions read are written to a file. */
static bool is_writer(const char *path)
{
	static const char *const writers[] = {
		"/torch/serialization.py",
		"/torch/distributed/checkpoint/state_dict_saver.py",
		"/torch/distributed/checkpoint/filesystem.py",
		"/safetensors/torch.py",
		NULL,
	};

	return has_any(path, writers);
}

/* "train.py:12"; *writes: the line is in a writer's file. */
static enum whose describe_line(object *frame, char *text, size_t size,
				bool *writes)
{
	object *file = file_of(frame);
	const char *path = file ? py.PyUnicode_AsUTF8(file) : NULL;
	const char *name = path ? strrchr(path, '/') : NULL;
	enum whose whose = path ? whose_is(path) : PYTORCHS;

	*writes |= path && is_writer(path);
	snprintf(text, size, "%s:%d",
		 name	? name + 1
		 : path ? path
			: "?",
		 py.PyFrame_GetLineNumber(frame));
	py.PyErr_Clear();
	if (file)
		py.Py_DecRef(file);
	return whose;
}

/* The program's innermost line, and the innermost line of a library called from
 * it, if any; true: what is read there is written to a file. */
static bool find_lines(object *thread, char program_line[64],
		       char library_line[64])
{
	object *frame = py.PyThreadState_GetFrame(thread);
	char line[64];
	bool writes = false;

	for (; frame && !*program_line; frame = caller_of(frame)) {
		enum whose whose =
			describe_line(frame, line, sizeof(line), &writes);

		if (whose == THE_PROGRAMS)
			memcpy(program_line, line, sizeof(line));
		else if (whose != PYTORCHS && !*library_line)
			memcpy(library_line, line, sizeof(line));
	}
	if (frame)
		py.Py_DecRef(frame);
	return writes;
}

static bool is_in_any(object *frame, const char *const *parts)
{
	object *file = file_of(frame);
	const char *path = file ? py.PyUnicode_AsUTF8(file) : NULL;
	bool is = path && has_any(path, parts);

	py.PyErr_Clear();
	if (file)
		py.Py_DecRef(file);
	return is;
}

static bool is_in(object *frame, const char *part)
{
	const char *const parts[] = { part, NULL };

	return is_in_any(frame, parts);
}

/* The thread that waits for the threads of a backward pass, which have no lines
 * of their own; false: there is none. */
static bool find_backward(object **thread)
{
	bool is_found = false;

	*thread =
		py.PyInterpreterState_ThreadHead(py.PyInterpreterState_Main());
	while (*thread && !is_found) {
		object *frame = py.PyThreadState_GetFrame(*thread);

		is_found = frame && is_in(frame, "/torch/autograd/");
		if (frame)
			py.Py_DecRef(frame);
		if (!is_found)
			*thread = py.PyThreadState_Next(*thread);
	}
	return is_found;
}

bool interpreter_place(char *text, size_t size, bool *writes)
{
	char program_line[64] = "", library_line[64] = "";
	const char *in = "";
	object *thread;
	int state;

	*writes = false;
	if (!program.is_there || !py.PyGILState_GetThisThreadState())
		return false;
	state = py.PyGILState_Ensure();
	*writes = find_lines(py.PyGILState_GetThisThreadState(), program_line,
			     library_line);
	if (!*program_line && !*library_line && find_backward(&thread)) {
		*writes = find_lines(thread, program_line, library_line);
		in = "in the backward pass of ";
	}
	py.PyGILState_Release(state);
	if (*program_line && *library_line)
		snprintf(text, size, "%s%s (via %s)", in, program_line,
			 library_line);
	else
		snprintf(text, size, "%s%s", in,
			 *program_line	 ? program_line
			 : *library_line ? library_line
					 : "PyTorch");
	return true;
}

/* ---- threads ---- */

static bool is_outermost_in(object *thread, const char *part)
{
	object *frame = py.PyThreadState_GetFrame(thread), *back;
	bool is;

	while (frame && (back = py.PyFrame_GetBack(frame))) {
		py.Py_DecRef(frame);
		frame = back;
	}
	is = frame && is_in(frame, part);
	if (frame)
		py.Py_DecRef(frame);
	return is;
}

const void *interpreter_thread(void)
{
	static _Thread_local const void *self;
	static _Thread_local bool is_checked;
	object *thread;
	int state;

	if (is_checked || !program.is_there)
		return self;
	thread = py.PyGILState_GetThisThreadState();
	if (!thread)
		return NULL;
	is_checked = true;
	if (gettid() == getpid()) {
		self = thread;
		return self;
	}
	state = py.PyGILState_Ensure();
	if (is_outermost_in(thread, "/threading.py"))
		self = thread;
	py.PyGILState_Release(state);
	return self;
}

bool interpreter_is_busy(const void *thread)
{
	/* Files of Python's own functions that wait. */
	static const char *const waiting[] = { "/threading.py", "/queue.py",
					       "/concurrent/futures/",
					       "/selectors.py", NULL };
	int state = py.PyGILState_Ensure();
	object *frame, *at = py.PyInterpreterState_ThreadHead(
			       py.PyInterpreterState_Main());
	bool is;

	while (at && at != thread)
		at = py.PyThreadState_Next(at);
	frame = at ? py.PyThreadState_GetFrame(at) : NULL;
	is = frame && !is_in_any(frame, waiting);
	if (frame)
		py.Py_DecRef(frame);
	py.PyGILState_Release(state);
	return is;
}

/* ---- local variables ---- */

static double number_in(object *locals, const char *name)
{
	object *value = py.PyMapping_GetItemString(locals, name);
	double number = value ? py.PyFloat_AsDouble(value) : NAN;

	if (value)
		py.Py_DecRef(value);
	return number;
}

/* Up to CPython 3.12 the locals are a dict kept by the frame, in which tensors
 * would live longer. */
static void read_locals(object *frame, const char *const *names, size_t count,
			double *values)
{
	object *locals = py.PyObject_GetAttrString(frame, "f_locals");

	for (size_t i = 0; i < count; i++)
		values[i] = locals ? number_in(locals, names[i]) : NAN;
	py.PyErr_Clear();
	if (!locals)
		return;
	py.PyDict_Clear(locals);
	py.PyErr_Clear();
	py.Py_DecRef(locals);
}

bool interpreter_locals(const char *part, const char *const *names,
			size_t count, double *values)
{
	object *frame;
	bool is;
	int state;

	if (!program.is_there || !py.PyGILState_GetThisThreadState())
		return false;
	state = py.PyGILState_Ensure();
	frame = py.PyThreadState_GetFrame(py.PyGILState_GetThisThreadState());
	is = frame && is_in(frame, part);
	if (is && count)
		read_locals(frame, names, count, values);
	if (frame)
		py.Py_DecRef(frame);
	py.PyGILState_Release(state);
	return is;
}

bool interpreter_is_held(void)
{
	return program.is_there && py.PyGILState_GetThisThreadState() &&
	       py.PyGILState_Check();
}

bool interpreter_is_in(const char *part)
{
	return interpreter_locals(part, NULL, 0, NULL);
}

bool interpreter_is_under(const char *const *parts)
{
	object *frame;
	bool is = false;
	int state;

	if (!program.is_there || !py.PyGILState_GetThisThreadState())
		return false;
	state = py.PyGILState_Ensure();
	frame = py.PyThreadState_GetFrame(py.PyGILState_GetThisThreadState());
	for (; frame && !is; frame = caller_of(frame))
		is = is_in_any(frame, parts);
	if (frame)
		py.Py_DecRef(frame);
	py.PyGILState_Release(state);
	return is;
}

/* ---- the beginning ---- */

static int prepare(void *unused)
{
	struct collector collector = collector_stop();
	bool are_followed;

	(void)unused;
	are_followed =
		program.wishes.has_values &&
		operators_watch(program.wishes.release, program.wishes.scalar);
	if (!are_followed)
		operators_doubt();
	guesses_begin(are_followed);
	if (are_followed)
		run_script(gp_saving_py);
	if (!are_followed && program.wishes.scalar)
		run_script(gp_scalar_py);
	run_script(gp_objects_py);
	if (program.wishes.has_owners)
		run_script(gp_owners_py);
	if (program.wishes.has_script)
		run_script(gp_marks_py);
	if (program.wishes.steps)
		begin_steps();
	collector_discount(&collector);
	collector_go_on(&collector);
	return 0;
}

void interpreter_wish(const struct interpreter_wishes *wishes)
{
	program.wishes = *wishes;
}

/* Patches modules before the program imports them. PyTorch's modules are
 * imported after its kernels are registered. */
void interpreter_watch_imports(void)
{
	static bool is_done;
	struct collector collector;
	object *globals;

	if (is_done || !program.wishes.release || !find_interpreter() ||
	    !py.Py_IsInitialized() || !py.PyGILState_Check())
		return;
	is_done = true;
	program.is_there = true;
	collector = collector_stop();
	globals = py.PyDict_New();
	interpreter_run(globals, gp_imports_py);
	if (program.wishes.has_values && draws_policy()->draws)
		interpreter_run(globals, gp_again_py);
	collector_discount(&collector);
	collector_go_on(&collector);
}

/* If this thread does not hold the GIL, the main thread soon does it. */
void interpreter_prepare(void)
{
	program.is_there = find_interpreter();
	if (!program.is_there) {
		guesses_begin(false);
		return;
	}
	if (py.PyGILState_Check())
		prepare(NULL);
	else
		py.Py_AddPendingCall(prepare, NULL);
}

/* ---- for imports.py: a storage is sent to another process ---- */

void simcuda_share_begin(void)
{
	ipc_begin_block();
}

void simcuda_share_end(uint64_t addr, uint64_t size)
{
	process_lock();
	ipc_end_block(addr, size);
	process_unlock();
}

/* ---- for objects.py: kept bytes ---- */

void simcuda_read_kept(uint64_t addr, void *bytes, size_t size)
{
	process_before_read(addr, size);
	process_lock();
	kept_read(addr, bytes, size);
	process_unlock();
}

void simcuda_write_kept(uint64_t addr, const void *bytes, size_t size)
{
	process_lock();
	kept_write(addr, bytes, size);
	process_unlock();
}

void simcuda_copy_kept(uint64_t to, uint64_t from, size_t size)
{
	process_before_read(from, size);
	process_lock();
	kept_copy(to, from, size);
	process_unlock();
}
