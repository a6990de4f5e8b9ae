/* SPDX-License-Identifier: MIT */
/* Explaining a plan. */
#include "commands/explaining.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/mem.h"

static void show(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

static enum gp_status explain_device(const struct gp_plan *plan,
				     uint32_t device,
				     struct gp_progress *progress,
				     struct gp_explain *explain,
				     struct gp_diag *diag)
{
	struct gp_replay_config run = gp_plan_simulated(plan, device);
	struct gp_explain_config config = {
		.run = &run,
		.progress = show,
		.progress_arg = progress,
	};

	return gp_explain(&config, explain, diag);
}

enum gp_status gp_explaining_devices(struct gp_explaining *explaining,
				     const struct gp_plan *plan,
				     struct gp_progress *progress,
				     struct gp_diag *diag)
{
	size_t count = plan->trace->device_count;
	enum gp_status status = GP_OK;

	explaining->explains =
		gp_mem_alloc(count + 1, sizeof(struct gp_explain));
	for (; explaining->count < count; explaining->count++) {
		uint32_t d = (uint32_t)explaining->count;

		status = explain_device(plan, d, progress,
					&explaining->explains[d], diag);
		if (status != GP_OK)
			break;
	}
	gp_progress_end(progress);
	return status;
}

enum gp_status gp_explaining_make(struct gp_explaining *explaining,
				  const struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_progress *progress,
				  struct gp_diag *diag)
{
	const struct gp_options none = { 0 };
	enum gp_status status;

	*explaining = (struct gp_explaining){ 0 };
	status = gp_explaining_devices(explaining, plan, progress, diag);
	if (status == GP_OK)
		status = gp_studying_make(&explaining->studying, plan,
					  options ? options : &none, progress,
					  diag);
	gp_progress_end(progress);
	return status;
}

/* " --capacity 80GiB" */
static int add_capacity(uint64_t capacity, char text[GP_GIVEN_TEXT])
{
	char bytes[GP_BYTES_TEXT];

	if (!capacity)
		return 0;
	return snprintf(text, GP_GIVEN_TEXT, " --capacity %s",
			capacity == GP_UNLIMITED
				? "unlimited"
				: gp_bytes_exact(capacity, bytes));
}

const char *gp_explaining_given(const struct gp_options *options,
				char text[GP_GIVEN_TEXT])
{
	size_t length;

	*text = '\0';
	length = (size_t)add_capacity(options->capacity, text);
	if (options->torch)
		snprintf(text + length, GP_GIVEN_TEXT - length,
			 " --torch %.32s", options->torch);
	return text;
}

void gp_explaining_release(struct gp_explaining *explaining)
{
	while (explaining->count)
		gp_explain_release(&explaining->explains[--explaining->count]);
	free(explaining->explains);
	explaining->explains = NULL;
	gp_studying_release(&explaining->studying);
}

struct gp_explanation gp_explaining_of(struct gp_explaining *explaining,
				       const struct gp_plan *plan,
				       const struct gp_options *options,
				       bool is_asked)
{
	if (is_asked)
		gp_explaining_given(options, explaining->given);
	return (struct gp_explanation){
		.path = options->operands[0],
		.conf = plan->conf,
		.given = explaining->given,
		.settings = &plan->settings,
		.devices = explaining->explains,
		.study = &explaining->studying.study,
		.count = explaining->count,
		.has_details = options->details,
		.what_ifs = plan->what_ifs,
	};
}
