/* SPDX-License-Identifier: MIT */
/* gpupool view: a run, moment by moment and block by block. */
#include "report/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/session.h"
#include "commands/trace_file.h"
#include "study/metrics/culprit.h"

#define COLUMNS_BY_DEFAULT 1200
#define BANDS_IN_JSON	   500
#define ROWS_FOR_A_PERSON  20 /* of bands and holders, in text */
#define ROWS_BY_DEFAULT	   100

/* A device of a run, with results that were computed for earlier questions. */
struct seen_device {
	struct gp_lifetimes lifetimes; /* list NULL: not computed yet */
	struct gp_steps steps;
	uint32_t *sites; /* of allocs, by id */
	uint16_t *pools; /* by id: the pool that the block was in */
	struct seen_by {
		struct askers askers; /* ranks NULL: not computed yet */
		uint32_t *ranks;
	} by[GP_HOLD_BYS];
	bool is_made;
};

/* A run with everything that was computed from it; kept for the next question
 * if the trace is held (gpupool/ask.h). */
struct seen {
	struct gp_trace *trace; /* holds a reference */
	struct gp_plan plan;
	struct seen_device *devices;
	struct gp_site_known *known; /* NULL: not yet */
};

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct seen *seen;
	char *run_name; /* the key for gp_session_put */
	struct gp_view view;
	const struct gp_lifetimes *lifetimes;
	/* What is asked for, by kind of view. */
	struct gp_view_moment moment;
	struct gp_event_search search;
	const struct gp_lifetime *lifetime;
};

/* A kind of view. */
struct sight {
	const char *name;
	const char *options; /* besides those that every view takes */
	/* Finds what is asked for. GP_USAGE or GP_INPUT: it does not exist. */
	enum gp_status (*find)(struct session *s, struct gp_diag *diag);
	void (*show)(const struct session *s,
		     const struct gp_view_style *style);
};

/* ---- the run ---- */

static void release_device(struct seen_device *device)
{
	for (int by = 0; by < GP_HOLD_BYS; by++) {
		if (!device->by[by].ranks)
			continue;
		askers_release(&device->by[by].askers);
		free(device->by[by].ranks);
	}
	gp_lifetimes_release(&device->lifetimes);
	free(device->steps.list);
	free(device->sites);
	free(device->pools);
}

static void destroy_seen(void *made)
{
	struct seen *seen = made;

	for (size_t i = 0; seen->devices && i < seen->trace->device_count; i++)
		release_device(&seen->devices[i]);
	free(seen->devices);
	free(seen->known);
	gp_plan_release(&seen->plan);
	gp_trace_destroy(seen->trace);
	free(seen);
}

/* Takes ownership of the trace, also on failure. */
static enum gp_status play(const struct gp_options *options,
			   struct gp_trace *trace, struct gp_progress *progress,
			   struct seen **out, struct gp_diag *diag)
{
	struct seen *seen = gp_mem_alloc(1, sizeof(*seen));
	enum gp_status status;

	seen->trace = trace;
	status = gp_plan_make(&seen->plan, trace, options, diag);
	if (status == GP_OK && options->capacity)
		status = gp_replay_decides(trace, options->capacity, diag);
	if (status == GP_OK) {
		gp_plan_track(&seen->plan, GP_TRACK_FILM, NULL, 0);
		status = gp_plan_play(&seen->plan, NULL, progress, diag);
	}
	if (status != GP_OK) {
		destroy_seen(seen);
		return status;
	}
	seen->devices =
		gp_mem_alloc(trace->device_count + 1, sizeof(*seen->devices));
	*out = seen;
	return GP_OK;
}

/* A text that identifies a run of a trace; the caller frees. */
static char *run_name(const struct gp_options *o)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	fprintf(out, "view %s\n%s\n%s\n%llu", o->alloc_conf ? "given" : "",
		o->knobs ? o->knobs : "", o->torch ? o->torch : "",
		(unsigned long long)o->capacity);
	if (o->alloc_conf)
		fprintf(out, "\n%s", o->alloc_conf);
	return gp_text_sink_close(&sink, out);
}

/* Takes the run from the session, or replays it. */
static enum gp_status take_run(struct session *s, struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(s->options);
	struct gp_trace *trace = NULL;
	enum gp_status status = gp_trace_file_read(s->options->operands[1],
						   &progress, &trace, diag);

	if (status == GP_OK) {
		s->seen = gp_session_take(trace, s->run_name);
		if (s->seen)
			gp_trace_destroy(trace);
		else
			status = play(s->options, trace, &progress, &s->seen,
				      diag);
	}
	gp_progress_end(&progress);
	return status;
}

static void put_run(struct session *s)
{
	if (s->seen)
		gp_session_put(s->seen->trace, s->run_name, s->seen,
			       destroy_seen);
	free(s->run_name);
}

/* ---- which device ---- */

static enum gp_status no_device(const struct session *s, struct gp_diag *diag)
{
	const struct gp_trace *trace = s->seen->trace;
	char list[128] = "";

	for (size_t i = 0; i < trace->device_count; i++) {
		size_t length = strlen(list);

		snprintf(list + length, sizeof(list) - length, "%s%u",
			 i ? ", " : "", trace->devices[i].device);
	}
	if (*list)
		gp_diag_hint(diag, "it has %s", list);
	return gp_diag_set(diag, GP_USAGE, "the trace has no device %llu",
			   (unsigned long long)s->options->gpu_device);
}

/* The device that is asked for, else the one with the largest peak. */
static enum gp_status choose_device(struct session *s, uint32_t *device,
				    struct gp_diag *diag)
{
	const struct gp_trace *trace = s->seen->trace;
	const struct gp_replay_result *results = s->seen->plan.results;
	uint64_t asked = s->options->gpu_device;
	uint32_t best = 0;

	if (!trace->device_count)
		return gp_diag_set(diag, GP_INPUT, "the trace has no device");
	if (asked == GP_COUNT_BY_DEFAULT) {
		for (uint32_t i = 1; i < trace->device_count; i++)
			if (results[i].at_peak.reserved >
			    results[best].at_peak.reserved)
				best = i;
	} else {
		while (best < trace->device_count &&
		       trace->devices[best].device != asked)
			best++;
		if (best == trace->device_count)
			return no_device(s, diag);
	}
	*device = best;
	return GP_OK;
}

/* ---- what is known about it ---- */

static uint16_t *pools_of(const struct gp_lifetimes *lifetimes, uint32_t ids)
{
	uint16_t *pools = gp_mem_alloc(ids + (size_t)1, sizeof(*pools));

	for (size_t i = 0; i < lifetimes->count; i++)
		pools[lifetimes->list[i].id] = lifetimes->list[i].pool;
	return pools;
}

static void make_device(const struct seen *seen, uint32_t d)
{
	struct seen_device *device = &seen->devices[d];
	const struct gp_trace *trace = seen->plan.trace;

	if (device->is_made)
		return;
	gp_lifetimes_init(&device->lifetimes, seen->plan.tracks[d].film,
			  trace->devices[d].event_count);
	gp_steps_find(trace, d, &device->steps);
	device->sites = gp_alloc_sites(&trace->devices[d]);
	device->pools =
		pools_of(&device->lifetimes, trace->devices[d].block_ids);
	device->is_made = true;
}

static void make_by(const struct seen *seen, uint32_t d, enum gp_hold_by by)
{
	struct seen_by *made = &seen->devices[d].by[by];
	const struct gp_trace *trace = seen->plan.trace;

	if (made->ranks)
		return;
	askers_init_by(&made->askers, by, trace, &trace->devices[d],
		       seen->devices[d].pools);
	made->ranks =
		gp_bands_ranks(&seen->devices[d].lifetimes, &made->askers);
}

static enum gp_status make_view(struct session *s, struct gp_diag *diag)
{
	enum gp_hold_by by = (enum gp_hold_by)s->options->by;
	struct seen *seen = s->seen;
	uint32_t d = 0;
	enum gp_status status = choose_device(s, &d, diag);

	if (status != GP_OK)
		return status;
	if (!seen->known)
		seen->known = gp_sites_known(seen->plan.trace);
	make_device(seen, d);
	make_by(seen, d, by);
	s->lifetimes = &seen->devices[d].lifetimes;
	s->view = (struct gp_view){
		.path = s->options->operands[1],
		.trace = seen->plan.trace,
		.device = d,
		.settings = &seen->plan.settings,
		.conf = seen->plan.conf,
		.result = &seen->plan.results[d],
		.film = seen->plan.tracks[d].film,
		.lifetimes = s->lifetimes,
		.askers = &seen->devices[d].by[by].askers,
		.ranks = seen->devices[d].by[by].ranks,
		.steps = &seen->devices[d].steps,
		.sites = seen->devices[d].sites,
		.known = seen->known,
	};
	return GP_OK;
}

/* ---- which moment ---- */

static enum gp_status at_oom(struct session *s, const char *ordinal,
			     struct gp_diag *diag)
{
	const struct gp_ooms *ooms = &s->view.result->ooms;
	uint64_t which = 1;

	if (*ordinal && (!gp_count_parse(ordinal + 1, &which) || !which))
		return gp_diag_set(diag, GP_USAGE,
				   "--at %s: after oom: comes 1, 2, ...",
				   s->options->at);
	if (which > ooms->count) {
		if (ooms->count)
			gp_diag_hint(diag, "use --at oom:%zu", ooms->count);
		else
			gp_diag_hint(diag, "use --at peak");
		return gp_diag_set(
			diag, GP_USAGE,
			"--at %s: out-of-memory errors in this run: %zu",
			s->options->at, ooms->count);
	}
	s->moment.event = ooms->events[which - 1];
	s->moment.what = which == 1 ? "the first out-of-memory error"
				    : "an out-of-memory error";
	return GP_OK;
}

static enum gp_status at_event(struct session *s, struct gp_diag *diag)
{
	if (!gp_count_parse(s->options->at, &s->moment.event))
		return gp_diag_set(diag, GP_USAGE,
				   "--at %s: it takes peak, oom, oom:2, end or "
				   "the number of an event",
				   s->options->at);
	s->moment.what = "that moment";
	if (s->moment.event < s->lifetimes->moments)
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE, "--at %s: the last event is %llu",
			   s->options->at,
			   (unsigned long long)s->lifetimes->moments - 1);
}

/* The moment that explain examines: the first failed request, else the peak,
 * which may be the start of a window. */
static void at_what_matters(struct session *s, bool is_peak)
{
	const struct gp_replay_result *r = s->view.result;

	if (r->first_oom.is_there && !is_peak) {
		s->moment.event = r->first_oom.event;
		s->moment.what = "the first out-of-memory error";
		return;
	}
	s->moment.event =
		r->at_peak.event ? r->at_peak.event : r->at_fullest.event;
	s->moment.is_start =
		r->fullest_is_start && !s->moment.event && r->at_peak.reserved;
	s->moment.is_before |= s->moment.is_start;
	s->moment.what = "the peak of reserved";
}

static enum gp_status find_moment(struct session *s, struct gp_diag *diag)
{
	const char *at = s->options->at;

	s->moment.is_before = s->options->before;
	if (!at || !strcmp(at, "peak")) {
		at_what_matters(s, at != NULL);
		return GP_OK;
	}
	if (!strcmp(at, "end")) {
		s->moment.event = s->lifetimes->moments - 1;
		s->moment.what = "the end";
		return GP_OK;
	}
	if (!strcmp(at, "oom") || !strncmp(at, "oom:", 4))
		return at_oom(s, at + 3, diag);
	return at_event(s, diag);
}

/* ---- the arguments of each view ---- */

static enum gp_status check_window(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *o = s->options;

	if (o->from_event >= o->to_event)
		return gp_diag_set(diag, GP_USAGE,
				   "from event %llu to %llu there is nothing",
				   (unsigned long long)o->from_event,
				   (unsigned long long)o->to_event);
	/* A page may ask about a shorter run than before. */
	if (o->format == GP_FORMAT_JSON)
		return GP_OK;
	return gp_check_event(o->from_event, s->lifetimes->moments, "from",
			      o->from_event, diag);
}

static void show_bands(const struct session *s,
		       const struct gp_view_style *style)
{
	const struct gp_options *o = s->options;
	bool is_for_a_person = style->format == GP_VIEW_TEXT;
	const struct gp_bands_window window = {
		.from = o->from_event,
		.to = o->to_event,
		.columns = o->columns ? o->columns : COLUMNS_BY_DEFAULT,
		.most = o->bands	  ? o->bands
			: is_for_a_person ? ROWS_FOR_A_PERSON
					  : BANDS_IN_JSON,
	};

	gp_view_bands(&s->view, &window, style);
}

static void show_holders(const struct session *s,
			 const struct gp_view_style *style)
{
	uint64_t most = s->options->rows;

	if (!most)
		most = style->format == GP_VIEW_TEXT ? ROWS_FOR_A_PERSON
						     : SIZE_MAX;
	gp_view_holders(&s->view, &s->moment, most, style);
}

static void show_state(const struct session *s,
		       const struct gp_view_style *style)
{
	gp_view_state(&s->view, &s->moment, style);
}

/* Parses "alloc,free". */
static enum gp_status find_kinds(const char *words, uint32_t *kinds,
				 struct gp_diag *diag)
{
	for (; *words; words += strcspn(words, ","), words += *words == ',') {
		size_t length = strcspn(words, ",");
		uint32_t before = *kinds;

		for (int k = 0; k < GP_EVENT_KINDS; k++) {
			const char *name =
				gp_event_kind_name((enum gp_event_kind)k);

			if (strlen(name) == length &&
			    !strncmp(name, words, length))
				*kinds |= UINT32_C(1) << k;
		}
		if (*kinds == before) {
			gp_diag_hint(diag, "see: man gpupool-trace");
			return gp_diag_set(diag, GP_USAGE,
					   "--op: no event is called %.*s",
					   (int)length, words);
		}
	}
	return GP_OK;
}

/* The stream with that handle in the trace; 0 is the default stream. */
static enum gp_status find_stream(const struct session *s, uint16_t *stream,
				  struct gp_diag *diag)
{
	char *end;
	uint64_t handle = strtoull(s->options->stream, &end, 0);

	for (size_t i = 0; !*end && i < s->view.trace->stream_count; i++)
		if (s->view.trace->streams[i] == handle) {
			*stream = (uint16_t)i;
			return GP_OK;
		}
	return gp_diag_set(diag, GP_USAGE, "the trace has no stream %s",
			   s->options->stream);
}

/* The internal id of the block that has this id in the file. */
static enum gp_status find_id(const struct session *s, uint32_t *id,
			      struct gp_diag *diag)
{
	const struct gp_device_trace *d =
		&s->view.trace->devices[s->view.device];

	for (uint32_t i = 0; i < d->block_ids; i++)
		if (gp_view_id(&s->view, i) == s->options->block) {
			*id = i;
			return GP_OK;
		}
	return gp_diag_set(diag, GP_USAGE, "the trace has no block %llu",
			   (unsigned long long)s->options->block);
}

static enum gp_status find_events(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *o = s->options;
	enum gp_status status = check_window(s, diag);

	s->search = (struct gp_event_search){
		.from = o->from_event,
		.to = o->to_event,
		.text = o->find,
		.least = o->least_size,
		.most = o->most_size,
		.id = GP_NO_ID,
		.stream = GP_NO_STREAM,
		.row = o->row,
		.rows = o->rows ? o->rows : ROWS_BY_DEFAULT,
	};
	if (status == GP_OK && o->op)
		status = find_kinds(o->op, &s->search.kinds, diag);
	if (status == GP_OK && o->stream)
		status = find_stream(s, &s->search.stream, diag);
	if (status == GP_OK && o->block != GP_COUNT_BY_DEFAULT)
		status = find_id(s, &s->search.id, diag);
	return status;
}

static void show_events(const struct session *s,
			const struct gp_view_style *style)
{
	gp_view_events(&s->view, &s->search, style);
}

/* Finds a block by id, or by a byte of the stack of bands. */
static enum gp_status find_block(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *o = s->options;
	enum gp_status status = find_moment(s, diag);
	uint64_t bottom;
	uint32_t id;

	if (status != GP_OK)
		return status;
	if (o->byte != GP_COUNT_BY_DEFAULT) {
		s->lifetime = gp_lifetimes_stacked(
			s->lifetimes, s->moment.event, o->byte, &bottom);
		if (s->lifetime)
			return GP_OK;
		return gp_diag_set(diag, GP_USAGE,
				   "--byte %llu: %llu bytes are allocated then",
				   (unsigned long long)o->byte,
				   (unsigned long long)s->lifetimes
					   ->allocated[s->moment.event]);
	}
	if (o->block == GP_COUNT_BY_DEFAULT)
		return gp_diag_usage(diag, "view", "which block?",
				     "give --block ID, or --at EVENT --byte "
				     "BYTE");
	status = find_id(s, &id, diag);
	if (status != GP_OK)
		return status;
	s->lifetime = gp_lifetimes_find(s->lifetimes, id, s->moment.event);
	if (s->lifetime)
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "block %llu is never allocated in this run",
			   (unsigned long long)o->block);
}

static void show_block(const struct session *s,
		       const struct gp_view_style *style)
{
	gp_view_block(&s->view, s->lifetime, style);
}

/* ---- the command ---- */

static const struct sight sights[] = {
	{ "bands", " from to columns bands ", check_window, show_bands },
	{ "holders", " at before rows ", find_moment, show_holders },
	{ "events", " from to row rows find op min-size max-size stream block ",
	  find_events, show_events },
	{ "state", " at before ", find_moment, show_state },
	{ "block", " at before block byte ", find_block, show_block },
};
#define SIGHTS (sizeof(sights) / sizeof(*sights))

struct shown {
	const struct session *session;
	const struct sight *sight;
};

static void write_report(void *arg, const struct gp_report_style *report,
			 FILE *out)
{
	const struct shown *shown = arg;
	struct gp_view_style style = { .report = report, .out = out };

	switch (shown->session->options->format) {
	case GP_FORMAT_JSON: style.format = GP_VIEW_JSON; break;
	case GP_FORMAT_CSV: style.format = GP_VIEW_CSV; break;
	default: style.format = GP_VIEW_TEXT;
	}
	shown->sight->show(shown->session, &style);
}

static const struct gp_option view_options[] = {
	{ "at", 0, GP_OPTION_TEXT, GP_AT(at), "EVENT|peak|oom|oom:N|end",
	  "holders, state, block: the moment: after that event, at the peak of "
	  "reserved, at the first or the N-th out-of-memory error, or at the "
	  "end. Default: the first oom, or the peak if there is none." },
	{ "before", 0, GP_OPTION_FLAG, GP_AT(before), NULL,
	  "holders, state, block: before that event, not after it." },
	{ "by", 0, GP_OPTION_WORD, GP_AT(by),
	  "site|size|stream|pool|category|module",
	  "How to group blocks; default: site. Categories and modules are "
	  "known in traces made by record." },
	{ "device", 0, GP_OPTION_COUNT, GP_AT(gpu_device), "N",
	  "The device, by CUDA's ordinal; default: the one with the most "
	  "reserved." },
	{ "from", 0, GP_OPTION_COUNT, GP_AT(from_event), "EVENT",
	  "bands, events: the first event; default: 0." },
	{ "to", 0, GP_OPTION_COUNT, GP_AT(to_event), "EVENT",
	  "bands, events: the first event that is left out." },
	{ "columns", 0, GP_OPTION_COUNT, GP_AT(columns), "N",
	  "bands: the most moments to show; default: 1200." },
	{ "bands", 0, GP_OPTION_COUNT, GP_AT(bands), "N",
	  "bands: the most blocks to show; default: 20 in text, otherwise "
	  "500." },
	{ "row", 0, GP_OPTION_COUNT, GP_AT(row), "N",
	  "events: the first row to show of those found; default: 0." },
	{ "rows", 0, GP_OPTION_COUNT, GP_AT(rows), "N",
	  "events, holders: the most rows to show; default: 100 events and, in "
	  "text, 20 holders." },
	{ "find", 0, GP_OPTION_TEXT, GP_AT(find), "TEXT",
	  "events: those with this text in a frame of their stack, or of their "
	  "block's, or in a mark's name: a file, a line or a function, in "
	  "upper or lower case." },
	{ "op", 0, GP_OPTION_TEXT, GP_AT(op), "NAME,...",
	  "events: of these kinds, such as alloc,free." },
	{ "min-size", 0, GP_OPTION_BYTES, GP_AT(least_size), "SIZE",
	  "events: of this many bytes or more." },
	{ "max-size", 0, GP_OPTION_BYTES, GP_AT(most_size), "SIZE",
	  "events: of this many bytes or fewer." },
	{ "stream", 0, GP_OPTION_TEXT, GP_AT(stream), "N",
	  "events: of this stream; 0 is the default one." },
	{ "block", 0, GP_OPTION_ANY, GP_AT(block), "ID",
	  "block, events: of this id, as other views show it." },
	{ "byte", 0, GP_OPTION_ANY, GP_AT(byte), "BYTE",
	  "block: the block at this byte when the blocks of that moment are "
	  "stacked, the oldest at the bottom." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|csv|markdown",
	  "For people, for programs, or as a table." },
	{ 0 },
};

static bool lists(const char *options, const char *name)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(options, word);
}

static enum gp_status find_sight(const struct gp_options *options,
				 const struct sight **sight,
				 struct gp_diag *diag)
{
	const char *name = options->operands[0];

	for (size_t i = 0; i < SIGHTS; i++)
		if (!strcmp(sights[i].name, name))
			*sight = &sights[i];
	if (!*sight) {
		gp_diag_hint(diag, "the views are bands, holders, events, "
				   "state and block");
		return gp_diag_set(diag, GP_USAGE, "there is no view of %s",
				   name);
	}
	for (size_t i = 0; view_options[i].name; i++)
		if (options->own >> i & 1 &&
		    !lists(" by device format ", view_options[i].name) &&
		    !lists((*sight)->options, view_options[i].name))
			return gp_diag_set(diag, GP_USAGE,
					   "a view of %s takes no --%s", name,
					   view_options[i].name);
	return GP_OK;
}

static enum gp_status view_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = { .options = options };
	struct shown shown = { .session = &s };
	enum gp_status status = find_sight(options, &shown.sight, diag);

	if (status != GP_OK)
		return status;
	s.run_name = run_name(options);
	status = take_run(&s, diag);
	if (status == GP_OK)
		status = make_view(&s, diag);
	if (status == GP_OK)
		status = shown.sight->find(&s, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, options->operands[1]);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &shown, diag);
	put_run(&s);
	return status;
}

const struct gp_command gp_view_command = {
	.name = "view",
	.operands = "VIEW TRACE",
	.least = 2,
	.most = 2,
	.sentence = "Look at a run moment by moment and block by block.",
	.about = "VIEW is one of these. bands: the blocks that take most of a "
		 "plot of allocated memory over time. holders: who holds the "
		 "memory at a moment. events: the list of events. state: "
		 "segments and blocks at a moment. block: one block, with its "
		 "stack.\n"
		 "The run is the recorded one; settings, a release or a "
		 "capacity make it a what-if.",
	.options = "at before by device from to columns bands row rows find op "
		   "min-size max-size stream block byte alloc-conf torch "
		   "capacity format output ascii color max-input quiet",
	.own = view_options,
	.takes_settings = true,
	.run = view_command,
};
