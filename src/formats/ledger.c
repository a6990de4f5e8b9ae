/* SPDX-License-Identifier: MIT */
/* The ledger: names for blocks that a recording identifies by address. */
#include "formats/ledger.h"

static void push(struct gp_ledger *ledger, const struct gp_event *event,
		 enum gp_event_kind kind, uint8_t flags, uint32_t name)
{
	struct gp_event copy = *event;

	copy.kind = (uint8_t)kind;
	copy.flags = flags;
	copy.addr = 0;
	gp_build_event(ledger->build, ledger->device, &copy, name);
}

void gp_ledger_alloc(struct gp_ledger *ledger, const struct gp_event *event)
{
	uint32_t before = gp_map_take(&ledger->live, event->addr);
	struct gp_event gone = *event;

	if (before != GP_MAP_NONE) {
		ledger->lost++;
		gone.size = 0; /* has that of its alloc */
		push(ledger, &gone, GP_FREE, GP_INFERRED, before);
	}
	gp_map_put(&ledger->live, event->addr, ledger->names);
	push(ledger, event, GP_ALLOC, event->flags, ledger->names++);
}

void gp_ledger_free(struct gp_ledger *ledger, const struct gp_event *event)
{
	uint32_t name = gp_map_take(&ledger->live, event->addr);

	if (name == GP_MAP_NONE)
		ledger->lost++;
	else
		push(ledger, event, GP_FREE, 0, name);
}

void gp_ledger_refuse(struct gp_ledger *ledger, const struct gp_event *event)
{
	push(ledger, event, GP_ALLOC, GP_REFUSED, ledger->names);
	push(ledger, event, GP_FREE, GP_INFERRED, ledger->names++);
}

void gp_ledger_release(struct gp_ledger *ledger)
{
	gp_map_release(&ledger->live);
}
