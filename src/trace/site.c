/* SPDX-License-Identifier: MIT */
/* The line and the operation that a stack stands for. */
#include "trace/site.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"

/* ---- frames: whose code they are, and their parts ---- */

enum frame_kind {
	FRAME_UNKNOWN,	/* not determined yet */
	FRAME_MACHINE,	/* interpreter, allocator, unwinder, recorder */
	FRAME_OTHER,	/* unknown */
	FRAME_TORCH,	/* PyTorch's C++: only distinguishes stacks */
	FRAME_PART,	/* of a node of the backward pass */
	FRAME_NATIVE,	/* an operator's kernel */
	FRAME_OP,	/* an operator */
	FRAME_NODE,	/* a node of the backward pass */
	FRAME_LIBRARY,	/* Python of PyTorch or of an installed package */
	FRAME_COMPILED, /* C++ of the program or of an extension */
	FRAME_PROGRAM,	/* Python of the program */
};

/* "folder/file.py:42 function", or a profiler's "folder/file.py(42): function".
 */
struct frame_place {
	size_t file; /* length */
	const char *line;
	size_t digits;
	const char *function; /* "": none */
};

/* Prefixes of the names of operators and nodes. */
#define FRAME_EVALUATES "autograd::engine::evaluate_function: "
#define FRAME_GENERATED "torch::autograd::generated::"
#define FRAME_OPERATORS "at::_ops::"
#define FRAME_KERNELS	"at::native::"
#define FRAME_GRADIENT	"torch::autograd::AccumulateGrad::apply"

static bool has_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

static bool starts_with_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strncmp(text, *words, strlen(*words)))
			return true;
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool frame_place(const char *text, struct frame_place *place)
{
	for (const char *c = text; *c; c++) {
		const char *behind;
		size_t digits;

		if (*c != ':' && *c != '(')
			continue;
		digits = strspn(c + 1, "0123456789");
		behind = c + 1 + digits;
		if (*c == '(' && strncmp(behind, "):", 2) != 0)
			continue;
		behind += *c == '(' ? 2 : 0;
		if (!digits || (*behind && *behind != ' '))
			continue;
		*place =
			(struct frame_place){ (size_t)(c - text), c + 1, digits,
					      behind + (*behind == ' ') };
		return true;
	}
	return false;
}

static bool ends(const char *text, size_t length, const char *with)
{
	size_t n = strlen(with);

	return length >= n && !strncmp(text + length - n, with, n);
}

/* Python gives code without a file a name such as "<stdin>", "<string>" or
 * "<ipython-input-3-...>". */
static bool frame_is_python(const char *text, const struct frame_place *place)
{
	return ends(text, place->file, ".py") || *text == '<';
}

static enum frame_kind python_kind(const char *text)
{
	/* Generated code and PyTorch's own folders, wherever they are. */
	static const char *const foreign[] = {
		"site-packages",     "dist-packages",	 "/lib/python",
		"\\lib\\",	     "\\Lib\\",		 "/torch/nn/",
		"/torch/optim/",     "/torch/autograd/", "/torch/utils/",
		"/torch/_",	     "/torch/fx/",	 "/torch/jit/",
		"/torch/cuda/",	     "/torch/amp/",	 "/torch/functional.py",
		"/torch/library",    "/torch/ao/",	 "/torch/distributed/",
		"torchinductor_",    "<eval_with_key>",	 "<frozen ",
		"/torch/overrides",  "torch\\nn\\",	 "torch\\optim\\",
		"torch\\autograd\\", "torch\\utils\\",	 NULL,
	};
	static const char *const bare[] = { "torch/nn/",       "torch/optim/",
					    "torch/autograd/", "torch/utils/",
					    "torch/_",	       NULL };

	return has_any(text, foreign) || starts_with_any(text, bare)
		       ? FRAME_LIBRARY
		       : FRAME_PROGRAM;
}

/* Whether the name before the arguments is in one of these namespaces. */
static bool is_within(const char *text, size_t length,
		      const char *const *spaces)
{
	for (; *spaces; spaces++) {
		size_t n = strlen(*spaces);

		for (size_t i = 0; i + n <= length; i++)
			if (!strncmp(text + i, *spaces, n) &&
			    (!i ||
			     (!is_word(text[i - 1]) && text[i - 1] != ':')))
				return true;
	}
	return false;
}

/* The length without arguments: "at::(anonymous namespace)::f(int)" without
 * "(int)". */
static size_t frame_name_length(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0;

	while (text[n] && text[n] != '(')
		n++;
	while (!strncmp(text + n, anonymous, sizeof(anonymous) - 1))
		for (n++; text[n] && text[n] != '(';)
			n++;
	return n;
}

static const char *const machine_spaces[] = {
	"c10::",
	"at::detail::",
	"at::TensorBase",
	"torch::unwind::",
	"torch::CapturedTraceback",
	"torch::cuda::(anonymous namespace)::gather",
	"torch::detail::",
	"std::",
	"pybind11::",
	"__gnu_cxx::",
	"at::TensorIterator",
	"torch::dynamo::",
	"torch::handle_torch_function",
	"gpupool::",
	NULL,
};

static const char *const torch_spaces[] = {
	"at::",	     "torch::", "caffe2::",    "cub::", "thrust::",
	"c10d::",    "cudnn::", "cublas",      "nccl",	"dnnl::",
	"cutlass::", "cuda::",	"functorch::", NULL,
};

/* Names in the interpreter, the C library and the recorder. In a stripped
 * library, a frame is named after the nearest exported symbol. */
static bool is_machine_name(const char *text)
{
	static const char *const names[] = {
		"Py",
		"_Py",
		"__",
		"_start",
		"<built-in",
		"pthread",
		"start_thread",
		"method_vectorcall",
		"slot_",
		"vectorcall",
		"cfunction_call",
		"subtype_",
		"type_call",
		"dynamo_",
		"THPVariable_",
		"THPModule_",
		"pymain_",
		"pyrun_",
		"run_mod",
		"binary_op",
		"ternary_op",
		"builtin_",
		"object_",
		"gen_send",
		"function_code_",
		"cudaMalloc",
		"gpupool",
		"ProfilerStep#",
		"<unwind",
		"??",
		NULL,
	};

	return starts_with_any(text, names) || !strcmp(text, "clone");
}

/* "SumBackward0", as profilers and PyTorch's errors name a node. */
static bool is_node_name(const char *text, size_t length)
{
	while (length && isdigit((unsigned char)text[length - 1]))
		length--;
	for (size_t i = 0; i < length; i++)
		if (!is_word(text[i]))
			return false;
	return length > 8 && !strncmp(text + length - 8, "Backward", 8);
}

static enum frame_kind native_kind(const char *text)
{
	size_t length = frame_name_length(text);
	const char *generated = memmem(text, length, FRAME_GENERATED,
				       sizeof(FRAME_GENERATED) - 1);

	if (!strncmp(text, FRAME_EVALUATES, sizeof(FRAME_EVALUATES) - 1) ||
	    !strncmp(text, FRAME_GRADIENT, sizeof(FRAME_GRADIENT) - 1) ||
	    is_node_name(text, strlen(text)))
		return FRAME_NODE;
	if (generated)
		return strstr(generated, "Backward") ? FRAME_NODE : FRAME_PART;
	if (memmem(text, length, FRAME_OPERATORS,
		   sizeof(FRAME_OPERATORS) - 1) ||
	    !strncmp(text, "aten::", 6))
		return FRAME_OP;
	if (memmem(text, length, FRAME_KERNELS, sizeof(FRAME_KERNELS) - 1))
		return FRAME_NATIVE;
	if (is_within(text, length, machine_spaces) || is_machine_name(text) ||
	    !strncmp(text, "(anonymous", 10))
		return FRAME_MACHINE;
	if (is_within(text, length, torch_spaces))
		return FRAME_TORCH;
	/* A profiler's "Optimizer.step#SGD.step" */
	if (memchr(text, '#', length) || !strncmp(text, "nn.Module: ", 11))
		return FRAME_LIBRARY;
	return memmem(text, length, "::", 2) ? FRAME_COMPILED : FRAME_OTHER;
}

/* A frame with a source file belongs to the program, unless it is known to
 * belong to something else. */
static enum frame_kind source_kind(const char *text, const char *function)
{
	static const char *const foreign[] = {
		"python",	"conda/",    "/csu/",	  "/sysdeps/",
		"/torch/",	"/aten/",    "/c10/",	  "/ATen/",
		"/usr/include", "pytorch/",  "/Objects/", "/Modules/",
		"/Python/",	"nptl/",     "glibc",	  "libstdc++",
		"gpupool",	"/simcuda/", NULL,
	};
	/* The name of an anonymous namespace does not say whose code it is; the
	 * file does. */
	enum frame_kind kind = !strncmp(function, "(anonymous", 10)
				       ? FRAME_OTHER
				       : native_kind(function);

	if (kind != FRAME_OTHER && kind != FRAME_COMPILED)
		return kind;
	return has_any(text, foreign) ? FRAME_MACHINE : FRAME_COMPILED;
}

static enum frame_kind frame_kind_of(const char *text)
{
	struct frame_place place;

	if (!frame_place(text, &place))
		return native_kind(text);
	return frame_is_python(text, &place)
		       ? python_kind(text)
		       : source_kind(text, place.function);
}

/* Letters, digits and underscores. */
static size_t frame_word_length(const char *text)
{
	size_t n = 0;

	while (is_word(text[n]))
		n++;
	return n;
}

/* ---- what a stack stands for ---- */

/* The innermost frame of the best kind above FRAME_NODE, and what runs below
 * it. */
struct gp_site_known {
	uint32_t frame, op; /* sites, or GP_NO_SITE */
	enum frame_kind frame_kind, op_kind;
};

static const struct gp_site_known nothing_known = {
	.frame = GP_NO_SITE,
	.op = GP_NO_SITE,
	.frame_kind = FRAME_LIBRARY, /* the least that is a line */
};

static const char *text_of(const struct gp_trace *trace, uint32_t site)
{
	return trace->texts[trace->sites[site].text];
}

/* Goes from a stack to that of one of its callees. Of equal operations the
 * outermost is kept, and of PyTorch's internal frames the innermost, which
 * differs most between stacks. */
static void know_frame(struct gp_site_known *known, uint32_t site,
		       enum frame_kind kind)
{
	if (kind >= known->frame_kind) {
		*known = nothing_known;
		known->frame = site;
		known->frame_kind = kind;
	} else if (kind >= FRAME_OTHER && kind <= FRAME_NODE &&
		   (kind > known->op_kind ||
		    (kind == known->op_kind && kind < FRAME_NATIVE))) {
		known->op_kind = kind;
		known->op = site;
	}
}

/* Next to a line, some kinds of operations add no information. */
static struct gp_site_known as_shown(struct gp_site_known known)
{
	if (known.frame != GP_NO_SITE && known.op_kind < FRAME_PART)
		known.op = GP_NO_SITE;
	return known;
}

static struct gp_site_known known_of(const struct gp_trace *trace,
				     uint32_t site)
{
	struct gp_site_known known = nothing_known;
	uint32_t *stack = NULL;
	size_t n = 0, room = 0;

	for (; site != GP_NO_SITE; site = trace->sites[site].caller) {
		GP_GROW(stack, n + 1, room);
		stack[n++] = site;
	}
	while (n--)
		know_frame(&known, stack[n],
			   frame_kind_of(text_of(trace, stack[n])));
	free(stack);
	return as_shown(known);
}

struct gp_site_known *gp_sites_known(const struct gp_trace *trace)
{
	struct gp_site_known *known =
		gp_mem_alloc(trace->site_count, sizeof(*known));
	uint8_t *kinds = gp_mem_alloc(trace->text_count, 1);

	/* Callers precede their callees. */
	for (uint32_t i = 0; i < trace->site_count; i++) {
		const struct gp_site *site = &trace->sites[i];
		uint8_t *kind = &kinds[site->text];

		if (*kind == FRAME_UNKNOWN)
			*kind = (uint8_t)frame_kind_of(text_of(trace, i));
		known[i] = site->caller == GP_NO_SITE ? nothing_known
						      : known[site->caller];
		know_frame(&known[i], i, (enum frame_kind)kinds[site->text]);
	}
	for (uint32_t i = 0; i < trace->site_count; i++)
		known[i] = as_shown(known[i]);
	free(kinds);
	return known;
}

/* ---- as text ---- */

struct words {
	char *text;
	size_t length, room;
};

/* Only whole characters. */
static void put(struct words *words, const char *from, size_t length)
{
	size_t left = words->room - 1 - words->length;

	if (length > left)
		length = left;
	while (length && ((unsigned char)from[length] & 0xc0) == 0x80)
		length--;
	memcpy(words->text + words->length, from, length);
	words->length += length;
	words->text[words->length] = '\0';
}

/* Where "model/layers.py" begins in "/home/me/project/model/layers.py". */
static size_t short_path(const char *text, size_t length)
{
	int folders = 0;

	for (size_t i = length; i > 0; i--)
		if ((text[i - 1] == '/' || text[i - 1] == '\\') &&
		    ++folders == 2)
			return i;
	return 0;
}

#define MOST_NAME 96 /* characters of a function's name */

static void put_name(struct words *words, const char *name)
{
	size_t length =
		strstr(name, "::") ? frame_name_length(name) : strlen(name);

	put(words, name, length < MOST_NAME ? length : MOST_NAME);
}

static void put_frame(struct words *words, const char *text, bool has_function)
{
	struct frame_place place;
	size_t from;

	if (!frame_place(text, &place)) {
		put_name(words, text);
		return;
	}
	from = short_path(text, place.file);
	put(words, text + from, place.file - from);
	put(words, ":", 1);
	put(words, place.line, place.digits);
	if (has_function && *place.function) {
		put(words, " ", 1);
		put_name(words, place.function);
	}
}

/* PyTorch appends the overload to an operator's name: "mul_Tensor". */
static size_t overload_at(const char *name, size_t length)
{
	static const char *const overloads[] = {
		"_memory_format", "_dtype_layout", "_dtype", "_device",
		"_self",	  "_dim",	   "_int",   "_names",
		"_start_step",	  "_start_out",	   "_start", "_out",
		"_other",	  "_default",	   "_input", "_generator",
	};

	for (size_t i = 1; i + 1 < length; i++)
		if (name[i] == '_' && isupper((unsigned char)name[i + 1]))
			length = i;
	for (size_t i = 0; i < sizeof(overloads) / sizeof(*overloads); i++) {
		size_t n = strlen(overloads[i]);

		if (length > n && !strncmp(name + length - n, overloads[i], n))
			return length - n;
	}
	return length;
}

/* "torch::autograd::generated::MmBackward0_apply_functional(...)" */
static void put_node(struct words *words, const char *text)
{
	const char *name = strstr(text, FRAME_GENERATED), *suffix;
	size_t length;

	if (!strncmp(text, FRAME_GRADIENT, sizeof(FRAME_GRADIENT) - 1))
		name = "AccumulateGrad";
	else if (!strncmp(text, FRAME_EVALUATES, sizeof(FRAME_EVALUATES) - 1))
		name = text + sizeof(FRAME_EVALUATES) - 1;
	else
		name = name ? name + sizeof(FRAME_GENERATED) - 1 : text;
	if (!strncmp(name, "details::", 9))
		name += 9;
	length = frame_word_length(name);
	suffix = memmem(name, length, "_apply_functional", 17);
	put(words, name, suffix ? (size_t)(suffix - name) : length);
}

static void put_op(struct words *words, const char *text, enum frame_kind kind)
{
	const char *name;
	size_t length;

	switch (kind) {
	case FRAME_NODE:
	case FRAME_PART: put_node(words, text); return;
	case FRAME_OP:
		name = strstr(text, FRAME_OPERATORS);
		if (!name)
			break;
		name += sizeof(FRAME_OPERATORS) - 1;
		put(words, "aten::", 6);
		put(words, name, overload_at(name, frame_word_length(name)));
		return;
	case FRAME_NATIVE:
		name = strstr(text, FRAME_KERNELS);
		length = sizeof(FRAME_KERNELS) - 1;
		put(words, name, length + frame_word_length(name + length));
		return;
	default: break;
	}
	put_frame(words, text, true);
}

#define UNKNOWN "no line of the program"

static const char *known_text(const struct gp_trace *trace,
			      const struct gp_site_known *known,
			      char text[GP_SITE_TEXT])
{
	struct words words = { text, 0, GP_SITE_TEXT - 2 };
	bool is_both = known->frame != GP_NO_SITE && known->op != GP_NO_SITE;

	*text = '\0';
	if (known->frame != GP_NO_SITE)
		put_frame(&words, text_of(trace, known->frame), true);
	/* After a long frame there may be no room left for the operation. */
	if (is_both && words.length + sizeof(" (x") > words.room)
		return text;
	if (is_both)
		put(&words, " (", 2);
	if (known->op != GP_NO_SITE)
		put_op(&words, text_of(trace, known->op), known->op_kind);
	words.room = GP_SITE_TEXT; /* the bracket is always closed */
	if (is_both)
		put(&words, ")", 1);
	if (!words.length)
		put(&words, UNKNOWN, strlen(UNKNOWN));
	return text;
}

const char *gp_site_text(const struct gp_trace *trace, uint32_t site,
			 char text[GP_SITE_TEXT])
{
	struct gp_site_known known;

	*text = '\0';
	if (site == GP_NO_SITE)
		return text;
	known = known_of(trace, site);
	return known_text(trace, &known, text);
}

const char *gp_site_known_text(const struct gp_trace *trace,
			       const struct gp_site_known *known, uint32_t site,
			       char text[GP_SITE_TEXT])
{
	*text = '\0';
	return site == GP_NO_SITE ? text
				  : known_text(trace, &known[site], text);
}

const char *gp_site_place(const struct gp_trace *trace, uint32_t site,
			  char text[GP_SITE_TEXT])
{
	struct words words = { text, 0, GP_SITE_TEXT };
	struct gp_site_known known;

	*text = '\0';
	if (site == GP_NO_SITE)
		return text;
	known = known_of(trace, site);
	if (known.frame == GP_NO_SITE)
		return known_text(trace, &known, text);
	put_frame(&words, text_of(trace, known.frame), false);
	return text;
}

uint32_t gp_site_frame(const struct gp_trace *trace, uint32_t site)
{
	struct gp_site_known known;

	if (site == GP_NO_SITE)
		return site;
	known = known_of(trace, site);
	return known.frame != GP_NO_SITE ? known.frame : known.op;
}

static bool is_on_drive(const char *file)
{
	return isalpha((unsigned char)file[0]) && file[1] == ':' &&
	       (file[2] == '\\' || file[2] == '/');
}

enum gp_platform gp_trace_platform(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->site_count; i++) {
		const char *frame = trace->texts[trace->sites[i].text];

		if (is_on_drive(frame))
			return GP_PLATFORM_MS_WINDOWS;
		if (strstr(frame, "HIPCachingAllocator"))
			return GP_PLATFORM_ROCM;
	}
	return GP_PLATFORM_UNKNOWN;
}

bool gp_site_is_machinery(const struct gp_trace *trace, uint32_t site)
{
	return frame_kind_of(text_of(trace, site)) == FRAME_MACHINE;
}

/* ---- sites that are shown as one ---- */

/* Operations are compared as text, because the kernels of one node have many
 * names. */
static uint64_t key_of(const struct gp_trace *trace,
		       const struct gp_site_known *known, struct gp_intern *ops)
{
	char text[GP_SITE_TEXT] = "";
	struct words words = { text, 0, GP_SITE_TEXT };
	uint32_t frame = GP_NO_SITE;

	if (known->op != GP_NO_SITE)
		put_op(&words, text_of(trace, known->op), known->op_kind);
	if (known->frame != GP_NO_SITE)
		frame = trace->sites[known->frame].text;
	return (uint64_t)frame << 32 | gp_intern(ops, text, words.length);
}

uint32_t *gp_sites_shown(const struct gp_trace *trace)
{
	uint32_t *shown = gp_mem_alloc(trace->site_count, sizeof(*shown));
	struct gp_site_known *known = gp_sites_known(trace);
	struct gp_map first = { 0 };
	struct gp_intern ops = { 0 };

	for (uint32_t i = 0; i < trace->site_count; i++) {
		uint64_t key = key_of(trace, &known[i], &ops);

		shown[i] = gp_map_get(&first, key);
		if (shown[i] == GP_MAP_NONE) {
			shown[i] = i;
			gp_map_put(&first, key, i);
		}
	}
	gp_intern_release(&ops);
	gp_map_release(&first);
	free(known);
	return shown;
}
