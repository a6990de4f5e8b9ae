/* SPDX-License-Identifier: MIT */
/* A pickle from its first opcode to STOP. */
#include "formats/pickle.h"

#include "trace/build.h"
#include "formats/pickle_machine.h"
#include "formats/pickle_opcode.h"

/*
 * Runs to STOP.  at, end, top and bottom (the fence) are the machine's, kept
 * in registers; leave and enter carry them over calls that may move them.
 */
static enum gp_status run(struct gp_machine *m)
{
	const unsigned char *at, *end;
	uint64_t *top, *bottom, *items;
	enum gp_status status;
	unsigned char opcode;
	uint64_t value;
	uint32_t index;

enter:
	at = m->source->at;
	end = m->source->end;
	top = m->top;
	bottom = gp_machine_fence(m);
	for (;;) {
		if (end - at < GP_LOOKAHEAD) {
			m->source->at = at;
			m->top = top;
			status = gp_machine_refill(m);
			if (status != GP_OK)
				return status;
			at = m->source->at;
			end = m->source->end;
			top = m->top;
			bottom = gp_machine_fence(m);
		}
		opcode = *at++;
		switch (opcode) {
		case GP_OP_MARK:
			m->marks[m->mark_count++] = (uint32_t)(top - m->stack);
			bottom = top;
			break;
		case GP_OP_EMPTY_DICT:
			if (end - at >= GP_DICT_BYTES &&
			    at[0] == GP_OP_MEMOIZE && at[1] == GP_OP_MARK) {
				m->source->at = at - 1;
				m->top = top;
				gp_machine_read_dicts(m);
				goto enter;
			}
			*top++ = gp_objects_dict(&m->objects);
			break;
		case GP_OP_EMPTY_LIST:
			*top++ = gp_objects_list(&m->objects);
			break;
		case GP_OP_MEMOIZE:
			if (top == bottom)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			break;
		case GP_OP_BINPUT:
			if (top == bottom || *at != m->memo_count)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			at++;
			break;
		case GP_OP_LONG_BINPUT:
			if (top == bottom || gp_load32(at) != m->memo_count)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			at += 4;
			break;
		case GP_OP_BINGET:
			value = *at < m->memo_count ? m->memo[*at] : 0;
			if (!value)
				goto leave;
			*top++ = value;
			at++;
			break;
		case GP_OP_LONG_BINGET:
			index = gp_load32(at);
			value = index < m->memo_count ? m->memo[index] : 0;
			if (!value)
				goto leave;
			*top++ = value;
			at += 4;
			break;
		case GP_OP_BININT1:
			*top++ = gp_value(GP_VALUE_INT, *at++);
			break;
		case GP_OP_BININT2:
			*top++ = gp_value(GP_VALUE_INT, gp_load16(at));
			at += 2;
			break;
		case GP_OP_BININT:
			value = (uint64_t)(int64_t)(int32_t)gp_load32(at);
			*top++ = gp_value(GP_VALUE_INT, value);
			at += 4;
			break;
		case GP_OP_LONG1:
			if (*at - 1u >= GP_VALUE_INT_BITS / 8)
				goto leave;
			*top++ = gp_value(GP_VALUE_INT, gp_load_long1(at));
			at += 1 + *at;
			break;
		case GP_OP_SHORT_BINUNICODE:
			if (end - at <= *at)
				goto leave;
			*top++ = gp_objects_text(&m->objects,
						 (const char *)at + 1, *at);
			at += 1 + *at;
			break;
		case GP_OP_NEWTRUE: *top++ = GP_VALUE_TRUE; break;
		case GP_OP_NEWFALSE: *top++ = GP_VALUE_FALSE; break;
		case GP_OP_FRAME: at += 8; break;
		case GP_OP_SETITEMS:
			m->top = top;
			m->source->at = at;
			m->opcode_at = gp_source_offset(m->source) - 1;
			items = gp_machine_pop_mark(m);
			status = gp_machine_set_items(m, items);
			if (status != GP_OK)
				return status;
			top = items;
			bottom = gp_machine_fence(m);
			break;
		case GP_OP_STOP: goto stop;
		default: goto leave;
		}
	}
leave:
	/* An opcode that step does, or that gets no further. */
	m->source->at = at;
	m->top = top;
	m->opcode_at = gp_source_offset(m->source) - 1;
	switch (opcode) {
	case GP_OP_MEMOIZE: return gp_machine_fail_stack(m);
	case GP_OP_BINGET:
	case GP_OP_LONG_BINGET:
		if (end - at < (opcode == GP_OP_BINGET ? 1 : 4))
			return gp_machine_fail_early(m);
		return gp_machine_fail_damaged(
			m, "the pickle refers to a memo entry "
			   "that is not there");
	}
	status = gp_machine_step(m, opcode);
	if (status != GP_OK)
		return status;
	goto enter;
stop:
	m->source->at = at;
	m->top = top;
	m->opcode_at = gp_source_offset(m->source) - 1;
	return top > bottom ? GP_OK : gp_machine_fail_stack(m);
}

enum gp_status gp_pickle_read(struct gp_source *source, struct gp_trace **trace,
			      struct gp_diag *diag)
{
	struct gp_build *build = gp_build_create(GP_BUILD_HISTORY);
	struct gp_machine m;
	enum gp_status status = gp_machine_init(&m, source, build, diag);

	if (status == GP_OK)
		status = run(&m);
	if (status == GP_OK)
		status = gp_objects_deliver(&m.objects, m.top[-1]);
	gp_machine_release(&m);
	if (status == GP_OK)
		return gp_build_finish(build, trace, diag);
	gp_build_destroy(build);
	return status;
}
