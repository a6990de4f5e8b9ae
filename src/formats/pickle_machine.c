/* SPDX-License-Identifier: MIT */
/* The pickle machine's memory, and what its messages have in common. */
#include "formats/pickle_machine.h"

#include <stdlib.h>

#include "base/mem.h"

static void name_byte(struct gp_machine *m, uint64_t offset)
{
	gp_diag_record(m->diag, "byte %llu", (unsigned long long)offset);
}

void gp_machine_name_opcode(struct gp_machine *m)
{
	name_byte(m, m->opcode_at);
}

enum gp_status gp_machine_fail_early(struct gp_machine *m)
{
	if (m->source->status != GP_OK)
		return m->source->status;
	name_byte(m, m->source->base +
			     (uint64_t)(m->source->end - m->source->buffer));
	gp_diag_hint(m->diag, "was it copied while it was being written?");
	return gp_diag_set(m->diag, GP_INPUT,
			   "the file ends in the middle of the pickle");
}

enum gp_status gp_machine_fail_damaged(struct gp_machine *m, const char *what)
{
	gp_machine_name_opcode(m);
	gp_diag_hint(m->diag, "is the file damaged?");
	return gp_diag_set(m->diag, GP_INPUT, "%s", what);
}

enum gp_status gp_machine_fail_stack(struct gp_machine *m)
{
	return gp_machine_fail_damaged(
		m, "the pickle uses a value that is not there");
}

/* A count that no longer fits its 32 bits is an error; that takes 4 GiB. */
enum gp_status gp_machine_make_room(struct gp_machine *m)
{
	size_t n = (size_t)(m->source->end - m->source->at) + GP_LOOKAHEAD;
	size_t used = (size_t)(m->top - m->stack);
	size_t most = UINT32_MAX - n;

	if (n > UINT32_MAX || used > most || m->mark_count > most ||
	    m->memo_count > most || m->objects.dicts_count > most ||
	    m->objects.lists_count > most)
		return gp_machine_fail_damaged(
			m, "the pickle has over 4 billion objects");
	m->stack = gp_mem_grow(m->stack, &m->stack_room, used + n,
			       sizeof(*m->stack));
	m->top = m->stack + used;
	m->marks = gp_mem_grow(m->marks, &m->mark_room, m->mark_count + n,
			       sizeof(*m->marks));
	m->memo = gp_mem_grow(m->memo, &m->memo_room, m->memo_count + n,
			      sizeof(*m->memo));
	gp_objects_reserve(&m->objects, n);
	return GP_OK;
}

/* A position beyond the end is that of an opcode with its argument cut off. */
enum gp_status gp_machine_refill(struct gp_machine *m)
{
	if (m->source->at > m->source->end)
		return gp_machine_fail_early(m);
	gp_source_need(m->source, GP_LOOKAHEAD);
	if (m->source->at == m->source->end)
		return gp_machine_fail_early(m);
	return gp_machine_make_room(m);
}

enum gp_status gp_machine_init(struct gp_machine *m, struct gp_source *source,
			       struct gp_build *build, struct gp_diag *diag)
{
	*m = (struct gp_machine){ .source = source, .diag = diag };
	gp_objects_init(&m->objects, build, diag);
	m->objects.delivery.is_of_host = source->config->is_of_host;
	m->marks = gp_mem_grow(NULL, &m->mark_room, 1, sizeof(*m->marks));
	m->marks[m->mark_count++] = 0;
	return gp_machine_make_room(m);
}

void gp_machine_release(struct gp_machine *m)
{
	gp_objects_release(&m->objects);
	free(m->stack);
	free(m->marks);
	free(m->memo);
}

uint64_t *gp_machine_pop_mark(struct gp_machine *m)
{
	uint64_t *items = gp_machine_fence(m);

	if (m->mark_count == 1)
		return NULL;
	m->mark_count--;
	return items;
}

enum gp_status gp_machine_set_items(struct gp_machine *m, uint64_t *items)
{
	uint64_t *dict = gp_machine_under(m, items);

	if (!dict || (m->top - items) % 2)
		return gp_machine_fail_stack(m);
	if (gp_value_tag(*dict) == GP_VALUE_DICT)
		gp_objects_set(&m->objects, *dict, items, m->top);
	else if (*dict != GP_VALUE_OPAQUE)
		return gp_machine_fail_damaged(
			m, "the pickle adds items to what is no "
			   "dict");
	m->top = items;
	return GP_OK;
}
