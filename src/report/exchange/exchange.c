/* SPDX-License-Identifier: MIT */
/* Writing a run: which format, and what all of them share. */
#include "report/exchange/exchange.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/exchange/writer.h"

/* PyTorch numbers devices in one byte (c10::DeviceIndex), and a snapshot lists
 * every one below the last. */
#define MOST_DEVICE 127

struct gp_exchange {
	struct gp_exchange_config config;
	const struct writer *writer;
	void *state;
	uint32_t devices; /* begun */
};

static const struct writer *const writers[GP_EXCHANGE_FORMATS] = {
	[GP_EXCHANGE_PICKLE] = &snapshot_writer,
	[GP_EXCHANGE_PERFETTO] = &perfetto_writer,
	[GP_EXCHANGE_SPEEDSCOPE] = &speedscope_writer,
	[GP_EXCHANGE_FOLDED] = &folded_writer,
	[GP_EXCHANGE_CSV] = &csv_writer,
};

static enum gp_status check(const struct gp_exchange_config *config,
			    struct gp_diag *diag)
{
	const struct gp_trace *trace = config->trace;
	uint32_t last = trace->device_count
				? trace->devices[trace->device_count - 1].device
				: 0;

	if (config->format != GP_EXCHANGE_PICKLE || last <= MOST_DEVICE)
		return GP_OK;
	gp_diag_hint(diag, "another format can: --to perfetto");
	return gp_diag_set(diag, GP_INPUT,
			   "a snapshot cannot hold device %u: PyTorch numbers "
			   "them up to %d",
			   last, MOST_DEVICE);
}

enum gp_status gp_exchange_begin(const struct gp_exchange_config *config,
				 struct gp_exchange **exchange,
				 struct gp_diag *diag)
{
	enum gp_status status = check(config, diag);
	struct gp_exchange *e;

	if (status != GP_OK)
		return status;
	e = gp_mem_alloc(1, sizeof(*e));
	e->config = *config;
	e->writer = writers[config->format];
	e->state = e->writer->begin(&e->config);
	*exchange = e;
	return GP_OK;
}

void gp_exchange_listen(struct gp_exchange *e, struct gp_replay_config *config)
{
	e->writer->device(e->state, e->devices++);
	config->action = e->writer->action;
	config->action_arg = e->state;
	config->look = e->writer->look;
	config->look_arg = e->state;
	config->keep_peak = e->writer->has_peak;
}

void gp_exchange_add(struct gp_exchange *e,
		     const struct gp_replay_result *result)
{
	e->writer->result(e->state, result);
}

void gp_exchange_end(struct gp_exchange *e)
{
	e->writer->end(e->state);
	gp_exchange_abandon(e);
}

void gp_exchange_abandon(struct gp_exchange *e)
{
	if (!e)
		return;
	e->writer->release(e->state);
	free(e);
}
