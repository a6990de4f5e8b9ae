/* SPDX-License-Identifier: MIT */
/*
 * at::RecordFunction reports when an operator begins, with its arguments, and
 * when it ends, with its results; neither is held longer, so PyTorch behaves as
 * without this. An operator whose own kernel ran (not that of one it called)
 * has written its results and the arguments that its schema names.
 */
#include "simcuda/program/operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/kept.h"
#include "simcuda/process.h"
#include "simcuda/program/draws.h"
#include "simcuda/program/evaluate.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/operations.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/philox.h"
#include "simcuda/program/scripts.h"
#include "simcuda/program/torch.h"
#include "simcuda/stream.h"

#define ADD_CALLBACK "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"

/* In standard deviations: sqrt(-2 ln(2 ** -54)) is 8.7. */
#define FARTHEST 9

/* at::RecordFunctionCallback. Three choices follow the scopes: whether it
 * receives inputs, outputs, and ids. */
struct callback {
	void *(*begin)(void **context, const char *record);
	void (*end)(const char *record, void *context);
	double probability;
	bool choices[16];
};
#define SCOPE_FUNCTION 0
#define SCOPE_BACKWARD 1

struct frame {
	const struct operation *operation; /* NULL: a range, no operator */
	struct arena arena;
	/* NULL: some are neither known nor drawn. */
	const struct argument *arguments;
	/* If some of their bits are not known: the arguments with these bits 0,
	 * and with these bits 1; otherwise NULL. */
	const struct argument *supposed[2];
	size_t argument_count;
	bool is_drawn;	       /* some argument or result is drawn */
	bool is_guess;	       /* its results follow from guesses */
	struct shape *written; /* arguments that it writes, or may write */
	size_t written_count, written_room;
	size_t named_count; /* the first of these: its schema names them */
	/* Results of operators that it called: its own kernels may write
	 * them. */
	struct shape *made;
	size_t made_count, made_room;
	struct evaluated *results;
	size_t result_count, saved_count;
	bool is_evaluated;
	bool has_written;
	bool is_in_place; /* what it has written so far can be read */
	bool is_clear;	  /* it writes zeros */
	bool hides_reach; /* it may write more than its tensor arguments */
	bool is_captured; /* into a graph: it runs later, if at all */
	bool is_presumed; /* it is all() of truths that were presumed */
	bool is_order;	  /* it compares floating-point numbers */
	const struct argument
		*asserted; /* arguments that its kernel asserts about */
	unsigned truths;   /* number of truths that it has read */
	struct generator generator;
	struct draws_place drawn_before;
};

static _Thread_local struct {
	struct frame *items;
	size_t count, room;
} frames;

/* The truths that were last presumed to be true, or will be if the program asks
 * for all() of them. If it does, it does so within a few operators. */
#define SOON 4
static _Thread_local struct {
	uint64_t addr, numel;
	unsigned begun; /* operators since */
} presumed;

static struct frame *add_frame(void)
{
	struct frame *f;

	GP_GROW(frames.items, frames.count + 1, frames.room);
	f = &frames.items[frames.count++];
	memset(f, 0, sizeof(*f));
	return f;
}

static const char *scalar; /* what an unknown scalar reads as; NULL: not set */

/* ---- what an operator writes ---- */

static void add_written(struct frame *f, const struct torch_value *value)
{
	struct torch_values list;
	struct shape *s;

	if (tensors_kind(value) == VALUE_LIST) {
		list = tensors_list(value);
		for (size_t i = 0; i < list.count; i++)
			add_written(f, &list.items[i]);
		return;
	}
	GP_GROW(f->written, f->written_count + 1, f->written_room);
	s = &f->written[f->written_count++];
	memset(s, 0, sizeof(*s));
	if (tensors_kind(value) == VALUE_TENSOR &&
	    !tensors_read(tensors_of(value), s))
		memset(s, 0, sizeof(*s));
}

static void find_written(struct frame *f, struct torch_values inputs)
{
	const struct operator_facts *facts = &f->operation->facts;

	for (size_t i = 0; i < inputs.count; i++)
		if (i < MOST_ARGUMENTS && facts->writes >> i & 1)
			add_written(f, &inputs.items[i]);
	f->named_count = f->written_count;
}

/* They come after the named ones, so that no results are put there. */
static void find_others(struct frame *f, struct torch_values inputs)
{
	const struct operator_facts *facts = &f->operation->facts;

	for (size_t i = 0; i < inputs.count && facts->writes_any; i++)
		if ((i >= MOST_ARGUMENTS || !(facts->writes >> i & 1)) &&
		    (tensors_kind(&inputs.items[i]) == VALUE_TENSOR ||
		     tensors_kind(&inputs.items[i]) == VALUE_LIST))
			add_written(f, &inputs.items[i]);
	process_lock();
	for (size_t i = 0; i < inputs.count && facts->writes_any; i++)
		f->hides_reach |= tensors_hide_memory(&inputs.items[i]);
	process_unlock();
}

/* ---- an operator's results ---- */

static bool is_like_in_size(const struct shape *a, const struct shape *b)
{
	if (a->dims != b->dims)
		return false;
	for (int i = 0; i < a->dims; i++)
		if (a->sizes[i] != b->sizes[i])
			return false;
	return true;
}

static bool are_alike(const struct evaluated *a, const struct evaluated *b)
{
	return a->kind == EVALUATED_TENSOR && b->kind == EVALUATED_TENSOR &&
	       a->shape.dtype == b->shape.dtype &&
	       a->shape.numel == b->shape.numel &&
	       !tensors_is_real(a->shape.dtype);
}

/* A result was computed twice: with all unknown bits 0, and with all of them 1.
 * Elements that are equal in both are known: returns a 1 for each of their
 * bytes. NULL: the two differ in type or number of elements, or one is
 * doubted. */
static const unsigned char *meet(struct frame *f, const struct evaluated *one,
				 const struct evaluated *other)
{
	size_t size = tensors_element(one->shape.dtype), at;
	uint64_t count = one->shape.numel;
	unsigned char *known;

	if (!are_alike(one, other) || one->is_doubted || other->is_doubted)
		return NULL;
	known = arena_take(&f->arena, count * size + 1);
	for (uint64_t i = 0; i < count; i++) {
		at = i * size;
		memset(known + at,
		       !memcmp(one->bytes + at, other->bytes + at, size), size);
	}
	return known;
}

static struct evaluated *run(struct frame *f, const struct argument *arguments,
			     size_t *count)
{
	struct evaluation e = { .name = &f->operation->name,
				.arguments = arguments,
				.argument_count = f->argument_count,
				.generator = &f->generator,
				.arena = &f->arena };

	evaluate(&e);
	f->is_drawn |= e.is_drawn;
	*count = e.result_count;
	return e.results;
}

/* zeros and ones: an argument with its unknown bits 0, and with these bits 1.
 * Marks an element of the result as unknown if the argument's element at the
 * same place is. False: it is not known which elements these are. */
static bool doubt_each(const struct argument *zeros,
		       const struct argument *ones, const struct evaluated *e,
		       unsigned char *known)
{
	size_t size = tensors_element(zeros->shape.dtype);
	size_t to = tensors_element(e->shape.dtype);

	if (zeros->kind == ARGUMENT_LIST)
		return false;
	if (zeros->kind != ARGUMENT_TENSOR || !zeros->bytes ||
	    !memcmp(zeros->bytes, ones->bytes, zeros->shape.numel * size))
		return true;
	if (!is_like_in_size(&zeros->shape, &e->shape))
		return false;
	for (uint64_t i = 0; i < e->shape.numel; i++)
		if (memcmp(zeros->bytes + i * size, ones->bytes + i * size,
			   size))
			memset(known + i * to, 0, to);
	return true;
}

static const unsigned char *known_of_each(struct frame *f,
					  const struct evaluated *e)
{
	size_t size = e->shape.numel * tensors_element(e->shape.dtype);
	unsigned char *known;

	if (e->kind != EVALUATED_TENSOR)
		return NULL;
	known = arena_take(&f->arena, size + 1);
	memset(known, 1, size);
	for (size_t i = 0; i < f->argument_count; i++)
		if (!doubt_each(&f->supposed[0][i], &f->supposed[1][i], e,
				known))
			return NULL;
	return known;
}

static void evaluate_each(struct frame *f)
{
	if (!f->arguments)
		f->results = run(f, f->supposed[0], &f->result_count);
	for (size_t i = 0; i < f->result_count; i++) {
		f->results[i].known = known_of_each(f, &f->results[i]);
		if (!f->results[i].known && !f->arguments)
			f->results[i].kind = EVALUATED_NOTHING;
	}
}

/* If no argument is drawn, the results are those for unknown bits of 0. */
static void evaluate_supposed(struct frame *f)
{
	size_t counts[2];
	struct evaluated *one = run(f, f->supposed[0], &counts[0]);
	const struct evaluated *other = run(f, f->supposed[1], &counts[1]);

	if (!f->arguments) {
		f->results = one;
		f->result_count = counts[0];
	}
	if (counts[0] != counts[1] || counts[0] != f->result_count) {
		f->result_count = f->arguments ? f->result_count : 0;
		return;
	}
	for (size_t i = 0; i < f->result_count; i++) {
		f->results[i].known = meet(f, &one[i], &other[i]);
		if (!f->results[i].known && !f->arguments)
			f->results[i].kind = EVALUATED_NOTHING;
	}
}

static void evaluate_frame(struct frame *f)
{
	if (f->is_evaluated)
		return;
	f->is_evaluated = true;
	if (!f->operation->facts.computes)
		return;
	if (f->arguments)
		f->results = run(f, f->arguments, &f->result_count);
	if (f->supposed[0] && f->operation->facts.is_each)
		evaluate_each(f);
	else if (f->supposed[0])
		evaluate_supposed(f);
}

static bool is_like(const struct evaluated *e, const struct shape *s)
{
	return e->kind == EVALUATED_TENSOR && !s->is_opaque &&
	       !s->is_conjugated && !s->is_negated &&
	       e->shape.dtype == s->dtype && is_like_in_size(&e->shape, s);
}

static void put(const struct frame *f, size_t result, const struct shape *s)
{
	const struct evaluated *e =
		result < f->result_count ? &f->results[result] : NULL;
	struct elements elements = { .is_drawn = f->is_drawn,
				     .is_guess = f->is_guess };

	if (!s->is_device || (e && e->kind == EVALUATED_KEPT))
		return;
	if (e && !f->is_captured && is_like(e, s)) {
		elements.bytes = e->bytes;
		elements.known = e->is_doubted ? NULL : e->known;
		elements.is_drawn |= e->is_doubted && draws_policy()->draws;
		elements.is_guess |= e->is_doubted && !draws_policy()->draws;
	} else if (f->operation->facts.is_check && draws_policy()->draws &&
		   s->numel == 1) {
		arguments_doubt(s);
		return;
	}
	arguments_write(s, &elements);
}

static bool read_output(const struct frame *f, const struct torch_value *value,
			struct shape *s)
{
	const void *tensor = tensors_of(value);

	if (f->operation && f->operation->facts.reads.is_sparse)
		tensor = tensors_indices(tensor);
	return tensor && tensors_read(tensor, s);
}

/* The values of written arguments follow the results. There are none if an
 * exception ended the operator. */
static void put_written(const struct frame *f)
{
	size_t first = f->result_count >= f->named_count
			       ? f->result_count - f->named_count
			       : f->result_count;

	for (size_t i = 0; i < f->written_count; i++)
		put(f, first + i, &f->written[i]);
}

static size_t put_outputs(const struct frame *f, struct torch_values values,
			  size_t result)
{
	struct shape s;

	for (size_t i = 0; i < values.count; i++) {
		const struct torch_value *v = &values.items[i];

		if (tensors_kind(v) == VALUE_LIST) {
			result = put_outputs(f, tensors_list(v), result);
			continue;
		}
		if (tensors_kind(v) == VALUE_TENSOR && read_output(f, v, &s))
			put(f, result, &s);
		result++;
	}
	return result;
}

static bool can_put_outputs(struct torch_values values)
{
	struct shape s;

	for (size_t i = 0; i < values.count; i++) {
		const struct torch_value *v = &values.items[i];

		if (tensors_kind(v) == VALUE_LIST &&
		    can_put_outputs(tensors_list(v)))
			return true;
		if (tensors_kind(v) == VALUE_TENSOR &&
		    tensors_read(tensors_of(v), &s) && arguments_can_write(&s))
			return true;
	}
	return false;
}

/* Whether it is worth computing: large gradients are often set to 0. */
static bool can_put_written(const struct frame *f)
{
	for (size_t i = 0; i < f->written_count; i++)
		if (arguments_can_write(&f->written[i]))
			return true;
	return false;
}

static bool is_cleared(const struct frame *f)
{
	return f->is_clear && !f->is_captured;
}

static void write_arguments(struct frame *f, bool can_put)
{
	if (is_cleared(f)) {
		arguments_clear(&f->written[0]);
		return;
	}
	if (can_put)
		evaluate_frame(f);
	put_written(f);
}

static void write_results(struct frame *f, const char *record)
{
	struct torch_values outputs = operation_outputs(f->operation, record);

	write_arguments(f, can_put_written(f) || can_put_outputs(outputs));
	/* Written arguments that are results may have been resized. */
	if (!is_cleared(f))
		put_outputs(f, outputs, 0);
}

/* An operator that is called after its caller's own kernel reads what that
 * kernel has written: for example, the formula of a forward-mode derivative. */
static void put_until_now(void)
{
	for (size_t i = 0; i < frames.count; i++) {
		struct frame *f = &frames.items[i];

		if (!f->operation || !f->has_written || f->is_in_place)
			continue;
		f->is_in_place = true;
		write_arguments(f, can_put_written(f));
	}
}

/* A presumed value still counts as unknown when it is read. only_all: it is
 * presumed to be true only if the program asks for all() of the elements. */
static void presume_outputs(struct torch_values values, bool only_all)
{
	struct shape s;

	for (size_t i = 0; i < values.count; i++) {
		if (tensors_kind(&values.items[i]) != VALUE_TENSOR ||
		    !tensors_read(tensors_of(&values.items[i]), &s))
			continue;
		if (!only_all)
			arguments_presume(&s);
		presumed.addr = s.addr;
		presumed.numel = s.numel;
		presumed.begun = 0;
	}
}

/* False: the first argument is not a tensor. */
static bool read_first(struct torch_values inputs, struct shape *s)
{
	return inputs.count && tensors_kind(&inputs.items[0]) == VALUE_TENSOR &&
	       tensors_read(tensors_of(&inputs.items[0]), s);
}

static bool asks_for_presumed(const struct frame *f, struct torch_values inputs)
{
	struct shape s;

	return f->operation->facts.is_of_all && presumed.begun <= SOON &&
	       read_first(inputs, &s) && s.is_device &&
	       s.addr == presumed.addr && s.numel == presumed.numel;
}

static bool compares_reals(const struct frame *f, struct torch_values inputs)
{
	struct shape s;

	return f->operation->facts.orders && read_first(inputs, &s) &&
	       tensors_is_real(s.dtype);
}

/* ---- an operator begins and ends ---- */

static bool writes_integers(const struct frame *f)
{
	for (size_t i = 0; i < f->written_count; i++)
		if (f->written[i].numel && !f->written[i].is_opaque &&
		    !tensors_is_real(f->written[i].dtype))
			return true;
	return false;
}

/* Whether it adds to 0 times the old values, which are then not read. */
static bool scales_by_0(const struct frame *f, struct torch_values inputs)
{
	const struct torch_value *beta;

	if (!f->operation->facts.scales || inputs.count < 4)
		return false;
	beta = &inputs.items[3];
	return tensors_kind(beta) == VALUE_INT	    ? !beta->number
	       : tensors_kind(beta) == VALUE_DOUBLE ? beta->real == 0
						    : false;
}

/* Whether the third argument is written without being read. */
static bool is_first_step(const struct frame *f, struct torch_values inputs)
{
	enum { IS_FIRST = 9 };

	return f->operation->facts.has_first_step && inputs.count > IS_FIRST &&
	       tensors_kind(&inputs.items[IS_FIRST]) == VALUE_BOOL &&
	       inputs.items[IS_FIRST].truth;
}

/* Arguments are guessed if they are unknown, and later reads are consistent
 * with the guess. */
static void guess_arguments(struct frame *f, struct torch_values inputs,
			    struct arguments_wish *wish)
{
	const struct operator_facts *facts = &f->operation->facts;

	if (!facts->is_random)
		f->arguments = arguments_follow(inputs, wish);
	if (!f->arguments && facts->gives_places)
		wish->of.unread = UINT32_MAX;
	if (!f->arguments && (facts->counts || facts->reads.takes_as_read ||
			      facts->gives_places))
		f->arguments = arguments_guess(inputs, wish);
	f->is_guess = f->arguments;
}

static void read_arguments(struct frame *f, struct torch_values inputs)
{
	const struct operator_facts *facts = &f->operation->facts;
	struct arguments_wish wish = {
		.of = facts->reads,
		.counts_all = facts->is_random,
		.arena = &f->arena,
	};

	wish.of.unread |= scales_by_0(f, inputs);
	wish.of.unread |= (uint32_t)is_first_step(f, inputs) << 2;
	wish.of.is_decisive |= writes_integers(f);
	f->argument_count = inputs.count;
	f->arguments = arguments_read(inputs, &wish, &f->is_drawn);
	if (!f->arguments && !draws_policy()->draws)
		guess_arguments(f, inputs, &wish);
	if (!facts->reads.partly ||
	    (f->arguments && !f->is_drawn && !f->is_guess))
		return;
	f->supposed[0] = arguments_suppose(inputs, &wish, false);
	if (f->supposed[0])
		f->supposed[1] = arguments_suppose(inputs, &wish, true);
	if (!f->supposed[1])
		f->supposed[0] = NULL;
}

/* Whether it is zero_() or fill_(0), as for gradients and the device's
 * cache. */
static bool is_zero(const struct frame *f, struct torch_values inputs)
{
	const struct torch_value *number = &inputs.items[1];

	if (!f->operation->facts.is_one_number || !f->written_count)
		return false;
	return inputs.count == 1 ||
	       (tensors_kind(number) == VALUE_INT && !number->number);
}

/* Without an explicit generator, the operator uses that of its tensors' device.
 * If no tensor is on a device, it may use the processor's, which is not
 * read. */
static void read_generator(struct frame *f, struct torch_values inputs)
{
	const void *impl = NULL;
	uint64_t addr = 0;
	struct shape s;

	for (size_t i = 0; i < inputs.count; i++) {
		const struct torch_value *v = &inputs.items[i];

		if (tensors_kind(v) == VALUE_GENERATOR)
			impl = v->object;
		else if (tensors_kind(v) == VALUE_TENSOR &&
			 tensors_read(tensors_of(v), &s) && s.is_device)
			addr = s.addr;
	}
	if (addr)
		f->generator = generator_read(impl, addr);
}

static void *on_begin(void **context, const char *record)
{
	const char *schema;
	struct torch_values inputs;
	struct frame *f;

	*context = NULL;
	if (evaluate_is_here())
		return context;
	owners_operator(tensors_sequence(record));
	put_until_now();
	f = add_frame();
	f->drawn_before = *draws_place();
	schema = tensors_schema(record);
	if (!schema)
		return context;
	f->operation = operation_of(schema);
	draws_begin(f->operation->number);
	inputs = operation_inputs(f->operation, record);
	presumed.begun++;
	f->is_presumed = asks_for_presumed(f, inputs);
	f->is_order = compares_reals(f, inputs);
	find_written(f, inputs);
	if (f->operation->facts.is_scalar && inputs.count)
		add_written(f, &inputs.items[0]);
	f->is_clear = is_zero(f, inputs);
	if (f->operation->facts.computes && !f->is_clear)
		read_arguments(f, inputs);
	if (f->arguments && f->operation->facts.is_random)
		read_generator(f, inputs);
	find_others(f, inputs);
	f->asserted = operation_asserted(f->operation, inputs, &f->arena);
	return context;
}

static void add_made(struct frame *f, struct torch_values values)
{
	struct shape s;

	for (size_t i = 0; i < values.count; i++) {
		const struct torch_value *v = &values.items[i];

		if (tensors_kind(v) == VALUE_LIST)
			add_made(f, tensors_list(v));
		if (tensors_kind(v) != VALUE_TENSOR ||
		    !tensors_read(tensors_of(v), &s) || !s.is_device)
			continue;
		GP_GROW(f->made, f->made_count + 1, f->made_room);
		f->made[f->made_count++] = s;
	}
}

static void doubt_made(struct frame *f)
{
	const struct elements nothing = { .bytes = NULL };

	for (size_t i = 0; i < f->made_count; i++)
		arguments_write(&f->made[i], &nothing);
	f->made_count = 0;
}

static void on_end(const char *record, void *context)
{
	struct frame f;

	(void)context;
	if (evaluate_is_here() || !frames.count)
		return;
	f = frames.items[frames.count - 1];
	if (f.has_written)
		write_results(&f, record);
	if (f.has_written && !f.is_captured && f.asserted)
		operation_check(f.operation, f.asserted, &f.arena);
	if (f.operation &&
	    (f.operation->facts.asserts || f.is_presumed || f.is_order))
		presume_outputs(operation_outputs(f.operation, record),
				f.is_order);
	frames.count--;
	draws_end(f.drawn_before);
	if (frames.count && f.operation && f.operation->facts.is_fresh)
		add_made(&frames.items[frames.count - 1],
			 operation_outputs(f.operation, record));
	arena_release(&f.arena);
	free(f.written);
	free(f.made);
}

/* ---- what is saved for backward while an operator runs ---- */

static bool is_among(const struct argument *arguments, size_t count,
		     uint64_t addr)
{
	for (size_t i = 0; i < count; i++) {
		const struct argument *a = &arguments[i];

		if (a->kind == ARGUMENT_LIST
			    ? is_among(a->items, a->count, addr)
			    : a->kind == ARGUMENT_TENSOR &&
				      a->shape.addr == addr)
			return true;
	}
	return false;
}

/* The index of the result that is like this tensor: the only one, or the first
 * one that is not saved yet. result_count: not known. */
static size_t result_like(struct frame *f, const struct shape *s)
{
	bool in_order = f->operation->facts.saves_rest;
	size_t found = f->result_count;

	for (size_t i = in_order ? 1 + f->saved_count : 0;
	     i + f->named_count < f->result_count; i++) {
		if (!is_like(&f->results[i], s))
			continue;
		if (found < f->result_count)
			return f->result_count;
		found = i;
		if (in_order)
			break;
	}
	if (in_order)
		f->saved_count = found;
	return found;
}

void simcuda_after_saving(void)
{
	frames.count--;
}

/* A hook reads what is saved before the operator ends, and may end it by an
 * exception: so what the operator has written is stored before. */
static void put_before(const void *tensor)
{
	struct frame *f = frames.count ? &frames.items[frames.count - 1] : NULL;
	struct shape s;

	if (evaluate_is_here() || !f || !f->operation || !f->has_written ||
	    !tensors_read(tensor, &s))
		return;
	evaluate_frame(f);
	put_written(f);
	if (f->arguments && !f->is_guess &&
	    !is_among(f->arguments, f->argument_count, s.addr))
		put(f, result_like(f, &s), &s);
}

void simcuda_before_saving(const void *tensor)
{
	put_before(tensor);
	/* What the hook launches does not belong to the operator. */
	add_frame();
}

/* ---- while an operator runs ---- */

/* A kernel that belongs to no operator may have written anything it reaches. */
static void doubt(bool is_captured, const struct process_reach *reach)
{
	bool is_all = !reach || reach->is_anywhere;

	(void)is_captured;
	process_lock();
	for (size_t i = 0; !is_all && i < reach->count; i++)
		is_all = !kept_doubt_block(reach->addresses[i]);
	if (is_all)
		kept_doubt_all();
	process_unlock();
}

/* Whether the kernel belongs to the operator. For PyTorch's operators it does
 * only if PyTorch launches it: __torch_dispatch__ may launch other kernels
 * instead. */
static bool is_operators_own(const struct frame *f,
			     const struct process_reach *reach)
{
	return f->operation && f->operation->is_known &&
	       !f->operation->facts.is_silent &&
	       (!reach || !reach->is_foreign || f->operation->facts.writes_any);
}

/* The operator that a kernel belongs to: the innermost one, or its caller if it
 * stands in for the caller's kernel, which then counts as PyTorch's. */
static struct frame *at_work(const struct process_reach **reach)
{
	struct frame *f = frames.count ? &frames.items[frames.count - 1] : NULL;

	if (frames.count < 2 || !f->operation || !f->operation->facts.stands_in)
		return f;
	*reach = NULL;
	return f - 1;
}

static void on_work(bool is_captured, const struct process_reach *reach)
{
	struct frame *f = at_work(&reach);

	if (f && is_operators_own(f, reach)) {
		f->has_written = true;
		f->is_in_place = false;
		f->is_captured |= is_captured;
		/* An operator in place keeps what backward needs in a clone. */
		if (!f->operation->facts.is_by_element)
			doubt_made(f);
		/* A kernel that the program brought for its own operator may
		 * write what that does not name. */
		if ((reach && !reach->is_linked &&
		     f->operation->facts.writes_any) ||
		    f->hides_reach)
			doubt(is_captured, reach);
		return;
	}
	doubt(is_captured, reach);
}

static void say_number(int64_t number, void *to, size_t size)
{
	memset(to, 0, size);
	memcpy(to, &number, size < sizeof(number) ? size : sizeof(number));
}

/* The size that the operator reads: of the first dimension, of the second one
 * for a sparse tensor's indices, or of the dimension that an argument names. */
static int64_t asked_size(const struct frame *f, const struct shape *s)
{
	int64_t dim = f->operation->facts.reads.is_sparse;

	for (size_t i = 0; f->arguments && i < f->argument_count; i++)
		if (f->arguments[i].kind == ARGUMENT_INT)
			dim = f->arguments[i].number;
	if (dim < 0)
		dim += s->dims;
	return dim >= 0 && dim < s->dims ? s->sizes[dim] : 0;
}

/* Whether what the operator reads follows from what it computes. */
static bool asks(const struct frame *f, size_t size)
{
	const struct operator_facts *facts;

	if (!f->operation)
		return false;
	facts = &f->operation->facts;
	return facts->succeeds || (facts->asks_size && size <= 8);
}

/* Answers a read of the size of the operator's result, or of an error code. */
static bool answer(const struct frame *f, void *to, size_t size)
{
	const struct evaluated *e = f->result_count ? f->results : NULL;

	if (!e)
		return false;
	if (f->operation->facts.succeeds)
		memset(to, 0, size);
	else if (e->kind == EVALUATED_INT || e->kind == EVALUATED_BOOL)
		say_number(e->number, to, size);
	else if (e->kind == EVALUATED_TENSOR && e->shape.dims)
		say_number(asked_size(f, &e->shape), to, size);
	else
		return false;
	return true;
}

static bool is_scalar(const struct frame *f, size_t size)
{
	return f && f->operation && f->operation->facts.is_scalar &&
	       f->written_count && size == tensors_element(f->written->dtype);
}

/* A truth that a correct program reads while the operator runs; false: it is
 * not known. */
static bool is_asserted_in(struct frame *f, bool *truth)
{
	const struct operator_facts *facts;

	if (!f->operation)
		return false;
	facts = &f->operation->facts;
	*truth = facts->samples ? !f->truths++ : facts->asserts;
	return facts->asserts || facts->denies || facts->samples;
}

/* Distributions of old releases call all() on their checks, like anybody. */
static bool is_asserted(const struct frame *f, bool *truth)
{
	if (f->written->dtype != DTYPE_BOOL)
		return false;
	for (size_t i = 0; i < frames.count; i++)
		if (is_asserted_in(&frames.items[i], truth))
			return true;
	*truth = true;
	return interpreter_is_in("/torch/distributions/");
}

/* From 2.13 on, trunc_normal_() asks whether a number lies too far out and has
 * to be drawn again: no. is_sure: no generator draws one so far out, as it has
 * at most as many random bits as a double. */
static bool draws_again(const struct frame *f, bool *is_sure)
{
	static const char *const names[] = { "mean", "std", "a", "b" };
	enum { MEAN, STD, LEAST, MOST, NUMBERS };
	double n[NUMBERS];

	if (f->written->dtype != DTYPE_BOOL ||
	    !interpreter_locals("/torch/nn/init.py", names, NUMBERS, n))
		return false;
	*is_sure = n[LEAST] < n[MEAN] - FARTHEST * n[STD] &&
		   n[MOST] > n[MEAN] + FARTHEST * n[STD];
	return true;
}

/* Reads a scalar: its value stays unknown. */
static bool read_scalar(const struct frame *f, void *to, uint64_t from,
			size_t size)
{
	if (scalar) {
		draws_say(scalar, f->written->dtype, to);
		return true;
	}
	if (!draws_policy()->draws)
		return false;
	draws_fill_scalar(f->written->dtype, to);
	kept_fill_in(from, to, size);
	return true;
}

/* Draws what is read: of the copy's type, or else as a kernel's count. */
static void draw(const struct frame *f, void *to, uint64_t from, size_t size)
{
	int dtype = f && f->written_count ? f->written->dtype
		    : size == 8		  ? DTYPE_LONG
		    : size == 4		  ? DTYPE_INT
					  : DTYPE_BYTE;
	size_t element = tensors_element(dtype);

	if (!element || size % element)
		return;
	draws_fill(dtype, size / element, to);
	kept_fill_in(from, to, size);
}

static bool on_read(void *to, uint64_t from, size_t size)
{
	struct frame *f = frames.count ? &frames.items[frames.count - 1] : NULL;
	bool finds_any = false, is_alone, is_sure, truth;

	/* If an operator was called by another one, it reads for both. */
	for (size_t i = 0; i < frames.count; i++) {
		struct frame *asking = &frames.items[i];

		if (!asks(asking, size))
			continue;
		evaluate_frame(asking);
		if (answer(asking, to, size))
			return !asking->is_drawn && !asking->is_guess;
		finds_any |= asking->operation->facts.finds_any;
	}
	if (finds_any && !scalar && !draws_policy()->draws) {
		say_number(1, to, size);
		return false;
	}
	is_alone = is_scalar(f, size);
	if (is_alone && draws_again(f, &is_sure)) {
		say_number(false, to, size);
		return is_sure;
	}
	if (is_alone && is_asserted(f, &truth)) {
		say_number(truth, to, size);
		return false;
	}
	process_lock();
	if ((!is_alone || !read_scalar(f, to, from, size)) &&
	    draws_policy()->draws)
		draw(f, to, from, size);
	process_unlock();
	return false;
}

/* Used if operators cannot be followed. */
void operators_doubt(void)
{
	process_hooks.work = doubt;
}

bool operators_watch(unsigned release, const char *new_scalar)
{
	const struct torch_layout *layout;
	struct callback callback = { .begin = on_begin,
				     .end = on_end,
				     .probability = 1 };
	struct callback node = { .begin = owners_enter_node,
				 .end = owners_leave_node,
				 .probability = 1 };
	uint64_t (*add)(struct callback callback);

	*(void **)&add = torch_symbol("torch_cpu", ADD_CALLBACK);
	if (!tensors_set_release(release) || !add || !evaluate_prepare())
		return false;
	layout = tensors_layout();
	tensors_set_keys(evaluate_keys());
	callback.choices[SCOPE_FUNCTION] = true;
	callback.choices[layout->scopes] = true;
	callback.choices[layout->scopes + 1] = true;
	add(callback);
	owners_prepare();
	node.choices[SCOPE_BACKWARD] = true;
	add(node);
	scalar = new_scalar;
	process_hooks.work = on_work;
	process_hooks.read = on_read;
	return true;
}
