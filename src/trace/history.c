/* A recorded history, paired by address. */
#include "base/map.h"
#include "trace/build_internal.h"

enum gp_status gp_history_finish_device(struct gp_build *build,
					struct gp_build_device *device,
					struct gp_diag *diag)
{
	struct gp_event *events = device->events;
	struct gp_map live = { 0 };
	size_t i, kept = 0;

	(void)build;
	(void)diag;
	for (i = 0; i < device->event_count; i++) {
		struct gp_event event = events[i];

		if (event.kind == GP_ALLOC) {
			event.id = device->block_ids++;
			gp_map_put(&live, event.addr, event.id);
		} else if (event.kind == GP_FREE) {
			event.id = gp_map_take(&live, event.addr);
			if (event.id == GP_MAP_NONE)
				continue;
			if (i + 1 < device->event_count &&
			    events[i + 1].kind == GP_FREE_COMPLETED &&
			    events[i + 1].addr == event.addr) {
				event.flags |= GP_AT_ONCE;
				i++;
			}
		} else if (event.kind == GP_FREE_COMPLETED) {
			continue;
		}
		events[kept++] = event;
	}
	device->event_count = kept;
	for (i = 0; i < device->end.block_count; i++)
		device->end.blocks[i].id =
			gp_map_get(&live, device->end.blocks[i].addr);
	gp_map_release(&live);
	return GP_OK;
}
