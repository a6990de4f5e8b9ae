/* SPDX-License-Identifier: MIT */
/* How a stack is described: by the program's line, and by the operation. */
#include "trace/site.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "trace/steps.h"
#include "suite.h"
#include "trace_text.h"

#define UNWINDER                                                               \
	"torch::unwind::unwind()", "torch::CapturedTraceback::gather(bool)",   \
		"c10::cuda::CUDACachingAllocator::Native::malloc(void**)",     \
		"at::detail::empty_cuda(c10::ArrayRef<long>)"
#define MOST 16

struct row {
	const char *stack[MOST]; /* innermost first */
	const char *text, *place;
};

static const struct row rows[] = {
	{ { "train.py:42 forward" }, "train.py:42 forward", "train.py:42" },
	{ { "/home/ann/lm/net/mlp.py:7 run" }, "net/mlp.py:7 run", NULL },
	{ { "at::_ops::mm::call(int)", ".py:7 run" },
	  ".py:7 run (aten::mm)",
	  ".py:7" },
	{ { "C:\\lm\\net\\mlp.py:7 run" }, "net\\mlp.py:7 run", NULL },
	/* The program's own frame wins over PyTorch's and a package's. */
	{ { "/opt/v/site-packages/torch/nn/functional.py:9 linear",
	    "/opt/v/site-packages/goose/block.py:3 go",
	    "/home/ann/lm/run.py:8 main", "/home/ann/lm/run.py:20 <module>" },
	  "lm/run.py:8 main",
	  NULL },
	{ { "/opt/v/site-packages/goose/block.py:3 go" },
	  "goose/block.py:3 go",
	  NULL },
	{ { "<ipython-input-3-ab>:2 <module>" },
	  "<ipython-input-3-ab>:2 <module>",
	  NULL },
	{ { "/lm/run.py(8): main" }, "lm/run.py:8 main", "lm/run.py:8" },
	/* C++ frames. */
	{ { UNWINDER, "at::_ops::mul_Tensor::redispatch(int)",
	    "torch::autograd::VariableType::(anonymous namespace)::mul_Tensor",
	    "at::_ops::mul_Tensor::call(int)",
	    "torch::autograd::THPVariable_mul(_object*, _object*)",
	    "PyCMethod_New", "/lm/run.py:8 main", "_PyEval_EvalFrameDefault",
	    "__libc_start_main" },
	  "lm/run.py:8 main (aten::mul)",
	  "lm/run.py:8" },
	/* A node's whole name is shown. */
	{ { UNWINDER, "at::_ops::mm::call(int)",
	    "torch::autograd::AccumulateGrad::apply(int)" },
	  "AccumulateGrad",
	  NULL },
	{ { UNWINDER, "at::_ops::mm::call(int)",
	    "torch::autograd::AccumulateGrad::appl(int)" },
	  "aten::mm",
	  NULL },
	/* A namespace begins where a name begins, also after a template's
	 * return type. Namespaces of the system are left out, but not names
	 * that merely end alike. */
	{ { UNWINDER, "std::f(int)", "main" }, "main", NULL },
	{ { UNWINDER, "void std::f(int)", "main" }, "main", NULL },
	{ { UNWINDER, "mystd::f(int)", "main" }, "mystd::f", NULL },
	{ { UNWINDER, "my::std::f(int)", "main" }, "my::std::f", NULL },
	{ { UNWINDER, "my::xstd::f(int)", "main" }, "my::xstd::f", NULL },
	{ { UNWINDER, "my::f<std::g>(int)", "main" }, "main", NULL },
	{ { UNWINDER, "my::f<::std::g>(int)", "main" },
	  "my::f<::std::g>",
	  NULL },
	/* An operator's overload is not part of its name, however short that
	 * is. */
	{ { UNWINDER, "at::_ops::t_Tensor::call(int)", "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::t)",
	  "lm/run.py:8" },
	{ { UNWINDER, "at::_ops::t_out::call(int)", "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::t)",
	  "lm/run.py:8" },
	{ { UNWINDER, "at::_ops::_out::call(int)", "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::_out)",
	  "lm/run.py:8" },
	{ { UNWINDER, "at::_ops::add_t_Scalar::call(int)",
	    "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::add_t)",
	  "lm/run.py:8" },
	{ { UNWINDER, "at::_ops::clone_::call(int)", "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::clone_)",
	  "lm/run.py:8" },
	/* With source files, if PyTorch was built with debug information. */
	{ { "/pytorch/c10/cuda/CUDACachingAllocator.cpp:3 c10::cuda::alloc()",
	    "/pytorch/build/aten/src/ATen/Operators_2.cpp:7 "
	    "at::_ops::mul_Tensor::call(int)",
	    "/pytorch/torch/csrc/python_variable_methods.cpp:9 "
	    "torch::autograd::THPVariable_mul(_object*, _object*)",
	    "/lm/run.py:8 main", "/Python/ceval.c:9 _PyEval_EvalFrameDefault" },
	  "lm/run.py:8 main (aten::mul)",
	  "lm/run.py:8" },
	{ { "/pytorch/build/aten/src/ATen/Operators_1.cpp:7 "
	    "at::_ops::mm::call(int)",
	    "/pytorch/torch/csrc/autograd/generated/Functions.cpp:5 "
	    "torch::autograd::generated::MmBackward0::apply(int)",
	    "/pytorch/torch/csrc/autograd/engine.cpp:6 "
	    "torch::autograd::Engine::thread_main(int)" },
	  "MmBackward0",
	  "MmBackward0" },
	/* Frames without a name do not count. */
	{ { UNWINDER, "at::native::(anonymous namespace)::fill(int)",
	    "/lm/run.py:8 main" },
	  "lm/run.py:8 main (at::native::)",
	  NULL },
	/* That namespace is not a function's parameters. */
	{ { UNWINDER, "lm::(anonymous namespace)::run(int)" },
	  "lm::(anonymous namespace)::run",
	  NULL },
	/* The file shows whose frame it is. */
	{ { UNWINDER, "/lm/grow.cpp:12 (anonymous namespace)::grow(int)",
	    "/lm/run.cpp:8 main" },
	  "lm/grow.cpp:12 (anonymous namespace)::grow",
	  NULL },
	{ { UNWINDER, "(anonymous namespace)::grow(int)",
	    "/pytorch/c10/core/Grow.cpp:12 (anonymous namespace)::grow(int)",
	    "/lm/run.cpp:8 main" },
	  "lm/run.cpp:8 main",
	  NULL },
	/* The outermost operator is the one that was called. */
	{ { UNWINDER, "at::_ops::bmm::call(int)",
	    "at::native::einsum(std::string, int)",
	    "at::_ops::einsum::call(int)", "/lm/run.py:8 main" },
	  "lm/run.py:8 main (aten::einsum)",
	  NULL },
	/* An operator in which the line's caller runs is not an operator of the
	 * line. */
	{ { UNWINDER, "at::_ops::empty_memory_format::call(int)",
	    "/lm/op.py:5 backward",
	    "torch::autograd::generated::MmBackward0::apply(int)" },
	  "lm/op.py:5 backward (aten::empty)",
	  NULL },
	{ { UNWINDER, "at::_ops::mm::call(int)",
	    "torch::autograd::generated::details::mm_backward(int)",
	    "torch::autograd::generated::MmBackward0_apply_functional(int)",
	    "torch::autograd::generated::MmBackward0::apply(int)",
	    "torch::autograd::Node::operator()(int)",
	    "torch::autograd::Engine::thread_main(int)",
	    "std::error_code::default_error_condition() const", "__clone" },
	  "MmBackward0",
	  "MmBackward0" },
	{ { UNWINDER, "at::_ops::new_empty_strided::call(int)",
	    "torch::autograd::AccumulateGrad::apply(int)", "clone" },
	  "AccumulateGrad",
	  NULL },
	{ { UNWINDER, "at::_ops::sum_dim_IntList::call(int)",
	    "torch::autograd::InputMetadata::reduce_grad(int)",
	    "torch::autograd::Engine::thread_main(int)" },
	  "aten::sum",
	  NULL },
	{ { UNWINDER, "at::native::resize_bytes_cuda(int)",
	    "_PyEval_EvalFrameDefault" },
	  "at::native::resize_bytes_cuda",
	  NULL },
	{ { UNWINDER, "at::_ops::empty::call(int)", "goose::forward(int)",
	    "main", "_start" },
	  "goose::forward (aten::empty)",
	  NULL },
	{ { UNWINDER, "at::_ops::empty::call(int)",
	    "/lm/src/goose.cpp:31 goose::forward(int)", "main" },
	  "src/goose.cpp:31 goose::forward (aten::empty)",
	  "src/goose.cpp:31" },
	/* The recorder's own frame, among PyTorch's. */
	{ { UNWINDER, "/home/ann/src/simcuda/program/hooks.c:97 on_allocate",
	    "at::_ops::mm::call(int)",
	    "torch::autograd::generated::MmBackward0::apply(int)" },
	  "MmBackward0",
	  NULL },
	{ { UNWINDER, "/usr/local/src/conda/python-3.12.3/Python/c.c:9 f" },
	  "no line of the program",
	  NULL },
	{ { ".py:9 f" }, ".py:9 f", ".py:9" },
	/* The frame of a profiler. */
	{ { "aten::empty", "aten::mm", "ProfilerStep#4" }, "aten::mm", NULL },
	{ { "aten::mm", "MmBackward0",
	    "autograd::engine::evaluate_function: MmBackward0" },
	  "MmBackward0",
	  NULL },
	{ { "aten::mm", "MmBackward0" }, "MmBackward0", NULL },
	{ { "aten::mm", "MmBackward" }, "MmBackward", NULL },
	{ { "aten::mm", "XBackward" }, "XBackward", NULL },
	{ { "aten::mm", "MmBackward12" }, "MmBackward12", NULL },
	{ { "aten::add", "Optimizer.step#SGD.step" },
	  "Optimizer.step#SGD.step (aten::add)",
	  NULL },
	{ { "aten::mm", "nn.Module: Linear_0" },
	  "nn.Module: Linear_0 (aten::mm)",
	  NULL },
	/* Almost a place, and almost a node. */
	{ { "/lm/run.py:8x main" }, "/lm/run.py:8x main", NULL },
	{ { "/lm/run.py: main" }, "/lm/run.py: main", NULL },
	{ { "aten::mm", "+Backward0" }, "aten::mm", NULL },
	{ { UNWINDER, "at::_ops::mm::call(int)",
	    "torch::autograd::generated::MmBackward0_apply_functional(int)" },
	  "MmBackward0",
	  NULL },
	/* Nothing is known about these. */
	{ { "site 17", "site 3" }, "site 17", "site 17" },
};

/* All rows as stacks of a single trace, each with one request. */
static struct gp_trace *trace_of_rows(void)
{
	char *text, *sites, *callers, *events;
	size_t length[4], count = 0;
	FILE *all = open_memstream(&text, &length[0]);
	FILE *s = open_memstream(&sites, &length[1]);
	FILE *c = open_memstream(&callers, &length[2]);
	FILE *e = open_memstream(&events, &length[3]);
	struct gp_trace *trace;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int frames = 0;

		while (frames < MOST && rows[i].stack[frames])
			frames++;
		for (int k = frames - 1; k >= 0; k--, count++) {
			fprintf(s, "%s\"", count ? ", " : "");
			for (const char *t = rows[i].stack[k]; *t; t++)
				fprintf(s, *t == '\\' ? "\\%c" : "%c", *t);
			putc('"', s);
			fprintf(c, "%s%d", count ? ", " : "",
				k == frames - 1 ? -1 : (int)count - 1);
		}
		fprintf(e,
			"%s{\"op\": \"alloc\", \"id\": %zu, \"size\": 512, "
			"\"site\": %zu}",
			i ? ", " : "", i, count - 1);
	}
	fclose(s);
	fclose(c);
	fclose(e);
	fprintf(all,
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[%s], \"callers\": [%s], \"devices\": [{\"device\": 0, "
		"\"events\": [%s]}]}",
		sites, callers, events);
	fclose(all);
	trace = trace_of(text);
	free(text);
	free(sites);
	free(callers);
	free(events);
	return trace;
}

START_TEST(a_stack_is_the_programs_line_and_the_operation)
{
	struct gp_trace *trace = trace_of_rows();
	char text[GP_SITE_TEXT];

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t site = trace->devices[0].events[i].site;

		ck_assert_str_eq(gp_site_text(trace, site, text), rows[i].text);
		if (rows[i].place)
			ck_assert_str_eq(gp_site_place(trace, site, text),
					 rows[i].place);
	}
	ck_assert_str_eq(gp_site_text(trace, GP_NO_SITE, text), "");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(stacks_of_one_place_and_operation_are_one)
{
	struct gp_trace *trace = trace_of_rows();
	uint32_t *shown = gp_sites_shown(trace);
	char a[GP_SITE_TEXT], b[GP_SITE_TEXT];

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (size_t k = 0; k < i; k++) {
			const struct gp_event *e = trace->devices[0].events;
			bool is_one = shown[e[i].site] == shown[e[k].site];

			gp_site_text(trace, e[i].site, a);
			gp_site_text(trace, e[k].site, b);
			ck_assert_msg(!is_one || !strcmp(a, b), "%s, %s", a, b);
		}
	free(shown);
	gp_trace_destroy(trace);
}
END_TEST

/* In a text, there must be room for what closes an operation; in a place, there
 * need not be. */
static void cut(const char *folder, char last)
{
	char name[301] = "", source[600];
	char text[GP_SITE_TEXT + 2] = { [GP_SITE_TEXT] = '!' };
	struct gp_trace *trace;

	for (size_t i = 0; i < sizeof(name) - 1; i += 2)
		memcpy(name + i, "\u00e4", 2);
	snprintf(source, sizeof(source),
		 "{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		 "[\"/%s/%s.py:7 f\"], \"devices\": [{\"device\": 0}]}",
		 folder, name);
	trace = trace_of(source);
	ck_assert_uint_eq(strlen(gp_site_text(trace, 0, text)),
			  GP_SITE_TEXT - 3);
	ck_assert_int_eq(text[GP_SITE_TEXT - 4], last);
	ck_assert_uint_eq(strlen(gp_site_place(trace, 0, text)),
			  GP_SITE_TEXT - 1);
	ck_assert_int_eq(text[GP_SITE_TEXT - 2], last);
	ck_assert_int_eq(text[GP_SITE_TEXT], '!');
	gp_trace_destroy(trace);
}

START_TEST(what_is_too_long_is_cut_behind_a_whole_character)
{
	cut("xy", '\xa4');
	cut("x", ':'); /* of which half has room, and what follows all */
}
END_TEST

/* All parentheses are balanced, however much of the text the frame takes. */
START_TEST(what_is_opened_is_closed_and_nothing_else)
{
	for (size_t length = 150; length < 260; length++) {
		char name[261] = "", source[900], text[GP_SITE_TEXT];
		struct gp_trace *trace;
		size_t end;

		memset(name, 'f', length);
		snprintf(
			source, sizeof(source),
			"{\"format\": \"gpupool-trace\", \"version\": 1, "
			"\"sites\": [\"/lm/%s/run.py:8 main\", \"aten::mul\"], "
			"\"callers\": [-1, 0], "
			"\"devices\": [{\"device\": 0}]}",
			name);
		trace = trace_of(source);
		gp_site_text(trace, 1, text);
		end = strlen(text);
		ck_assert_msg((strchr(text, '(') != NULL) ==
				      (text[end - 1] == ')'),
			      "%s", text);
		ck_assert_msg(!strstr(text, "()"), "%s", text);
		gp_trace_destroy(trace);
	}
}
END_TEST

#define STEP(n, t)                                                             \
	"{\"op\": \"mark\", \"name\": \"step " #n "\"},"                       \
	"{\"op\": \"alloc\", \"id\": " #n ", \"size\": 512, \"time\": " #t     \
	", \"site\": 0}"

START_TEST(an_event_is_told_by_its_step_its_time_and_its_line)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"/lm/serve.py:90 run\"], \"devices\": [{\"device\": 0, "
		"\"events\": [{\"op\": \"alloc\", \"id\": 1, \"size\": "
		"8}," STEP(20, 1000000) "," STEP(21, 1000500) "," STEP(
			22, 4100000) "]}]}");
	char text[GP_EVENT_TEXT];

	ck_assert_str_eq(gp_event_words(trace, 0, 0, text), "event 0");
	ck_assert_str_eq(gp_event_words(trace, 0, 1, text),
			 "step 20 (event 1)");
	ck_assert_str_eq(gp_event_words(trace, 0, 4, text),
			 "step 21, 0.5 ms, lm/serve.py:90 (event 4)");
	ck_assert_str_eq(gp_event_words(trace, 0, 6, text),
			 "step 22, 3.1 s, lm/serve.py:90 (event 6)");
	ck_assert_str_eq(gp_event_words(trace, 0, 7, text), "event 7");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_path_tells_the_platform)
{
	static const struct {
		const char *path;
		enum gp_platform platform;
	} paths[] = {
		{ "C:\\\\a.py", GP_PLATFORM_MS_WINDOWS },
		{ "c:/a.py", GP_PLATFORM_MS_WINDOWS },
		{ "c:a.py", GP_PLATFORM_UNKNOWN },
		{ "1:/a.py", GP_PLATFORM_UNKNOWN },
		{ "cd/a.py", GP_PLATFORM_UNKNOWN },
		{ "HIPCachingAllocator.cpp", GP_PLATFORM_ROCM },
	};

	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		char source[200];
		struct gp_trace *trace;

		snprintf(source, sizeof(source),
			 "{\"format\": \"gpupool-trace\", \"version\": 1, "
			 "\"sites\": [\"/a.py:1 f\", \"%s:7 f\"], "
			 "\"devices\": [{\"device\": 0}]}",
			 paths[i].path);
		trace = trace_of(source);
		ck_assert_int_eq(gp_trace_platform(trace), paths[i].platform);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_stack_is_the_programs_line_and_the_operation, 0 },
		{ stacks_of_one_place_and_operation_are_one, 0 },
		{ what_is_too_long_is_cut_behind_a_whole_character, 0 },
		{ what_is_opened_is_closed_and_nothing_else, 0 },
		{ an_event_is_told_by_its_step_its_time_and_its_line, 0 },
		{ a_path_tells_the_platform, 0 },
	};

	return suite_run("site", tests, COUNT_OF(tests));
}
