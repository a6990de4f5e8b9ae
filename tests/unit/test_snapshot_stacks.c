/* SPDX-License-Identifier: MIT */
/* Stacks of frames that arrive in parts: any few steps on two lists, compared
 * with the rule. */
#include "formats/snapshot_object.h"
#include "suite.h"
#include "trace/build.h"

#define STEPS 6

/* A list is complete when it is used, or when another list begins. */
struct list {
	uint64_t value;
	uint32_t frames[STEPS];
	size_t count;
	bool is_used;
};

static uint64_t text(struct gp_snapshot_objects *o, const char *of)
{
	return gp_objects_text(o, of, strlen(of));
}

static uint64_t frame(struct gp_snapshot_objects *o, unsigned line)
{
	uint64_t dict = gp_objects_dict(o);
	const uint64_t items[] = {
		text(o, "filename"),	      text(o, "a.py"), text(o, "line"),
		gp_value(GP_VALUE_INT, line), text(o, "name"), text(o, "f"),
	};

	gp_objects_set(o, dict, items, items + COUNT_OF(items));
	return dict;
}

static void add(struct gp_snapshot_objects *o, struct list *list,
		struct list **latest, unsigned line)
{
	uint64_t dict = frame(o, line);

	gp_objects_append(o, list->value, &dict, &dict + 1);
	if (list->count && (*latest != list || list->is_used))
		return;
	*latest = list;
	list->frames[list->count++] =
		gp_build_frame(o->build, "a.py", line, "f");
}

static void use(struct gp_snapshot_objects *o, struct list *list)
{
	ck_assert_uint_eq(
		gp_objects_site(o, list->value),
		list->count ? gp_build_site(o->build, list->frames, list->count)
			    : GP_NO_SITE);
	/* a list without frames may still get some */
	list->is_used = list->count > 0;
}

/* Each step is about one of the lists: it adds a frame, or uses the list. */
static void play(struct gp_snapshot_objects *o, unsigned steps)
{
	struct list lists[2] = { { .value = gp_objects_list(o) },
				 { .value = gp_objects_list(o) } };
	struct list *latest = NULL;

	for (unsigned i = 0; i < STEPS; i++, steps /= 4) {
		struct list *list = &lists[steps % 2];

		if (steps / 2 % 2) {
			use(o, list);
			continue;
		}
		add(o, list, &latest, 1 + i);
	}
	use(o, &lists[0]);
	use(o, &lists[1]);
}

START_TEST(stacks_are_complete_once_they_are_used_or_another_comes)
{
	static struct gp_snapshot_objects objects;
	struct gp_build *build = gp_build_create(GP_BUILD_HISTORY);
	struct gp_diag diag = { 0 };

	gp_objects_init(&objects, build, &diag);
	for (unsigned i = 0; i < 1U << 2 * STEPS; i++) {
		gp_objects_reserve(&objects, 2 + STEPS);
		play(&objects, i);
	}
	gp_objects_release(&objects);
	gp_build_destroy(build);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ stacks_are_complete_once_they_are_used_or_another_comes, 0 },
	};

	return suite_run("snapshot stacks", tests, COUNT_OF(tests));
}
