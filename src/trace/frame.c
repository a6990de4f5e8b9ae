/* SPDX-License-Identifier: MIT */
/* What a frame of a stack is. */
#include "trace/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

bool frame_place(const char *text, struct frame_place *place)
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

/* Python names what has no file "<stdin>", "<string>", "<ipython-input-3-...>".
 */
bool frame_is_python(const char *text, const struct frame_place *place)
{
	return ends(text, place->file, ".py") || *text == '<';
}

static enum frame_kind python_kind(const char *text)
{
	/* Generated code and PyTorch's own folders, wherever they lie. */
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

/* Does a name of one of these namespaces stand before the arguments? */
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

/* Up to the arguments: "at::(anonymous namespace)::f(int)" without "(int)". */
size_t frame_name_length(const char *text)
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

/* The interpreter's, the C library's and the recorder's names.  Where symbols
 * were stripped, a frame is called by any exported name that lies near. */
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

/* "SumBackward0", as a profiler and PyTorch's errors call it. */
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

/* With a source file: the program's, unless it is known whose it is. */
static enum frame_kind source_kind(const char *text, const char *function)
{
	static const char *const foreign[] = {
		"python",	"conda/",   "/csu/",	 "/sysdeps/",
		"/torch/",	"/aten/",   "/c10/",	 "/ATen/",
		"/usr/include", "pytorch/", "/Objects/", "/Modules/",
		"/Python/",	"nptl/",    "glibc",	 "libstdc++",
		"gpupool",	NULL,
	};
	enum frame_kind kind = native_kind(function);

	if (kind != FRAME_OTHER && kind != FRAME_COMPILED)
		return kind;
	return has_any(text, foreign) ? FRAME_MACHINE : FRAME_COMPILED;
}

enum frame_kind frame_kind_of(const char *text)
{
	struct frame_place place;

	if (!frame_place(text, &place))
		return native_kind(text);
	return frame_is_python(text, &place)
		       ? python_kind(text)
		       : source_kind(text, place.function);
}

size_t frame_word_length(const char *text)
{
	size_t n = 0;

	while (is_word(text[n]))
		n++;
	return n;
}
