/* SPDX-License-Identifier: MIT */
/* A plan: a run of a whole trace. */
#include "commands/plan.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "commands/engine_named.h"
#include "commands/options.h"
#include "commands/installed.h"
#include "commands/nearest.h"
#include "study/metrics/film.h"
#include "report/number.h"
#include "study/floor/floor.h"
#include "trace/check.h"

/* ---- the memory pool of the engine async ---- */

static enum gp_status bytes(const char *flag, const char *text, uint64_t *bytes,
			    struct gp_diag *diag)
{
	if (!text)
		return GP_OK;
	*bytes = GP_UNLIMITED;
	if (!strcmp(text, "unlimited") || gp_bytes_parse(text, bytes))
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "--%s %s: not a size such as 2GiB, 0 or unlimited",
			   flag, text);
}

static const struct {
	const char *name;
	size_t offset;
} reuses[] = {
	{ "events", offsetof(struct gp_pool_settings, follows_events) },
	{ "opportunistic",
	  offsetof(struct gp_pool_settings, is_opportunistic) },
	{ "internal", offsetof(struct gp_pool_settings, adds_waits) },
};
#define REUSES (sizeof(reuses) / sizeof(*reuses))

static bool *flag_of(struct gp_pool_settings *settings, size_t index)
{
	return (bool *)((char *)settings + reuses[index].offset);
}

static bool set_reuse(struct gp_pool_settings *settings, const char *name,
		      size_t length)
{
	for (size_t i = 0; i < REUSES; i++)
		if (strlen(reuses[i].name) == length &&
		    !strncmp(reuses[i].name, name, length)) {
			*flag_of(settings, i) = true;
			return true;
		}
	return false;
}

static enum gp_status reuse(const char *text, struct gp_pool_settings *settings,
			    struct gp_diag *diag)
{
	if (!text)
		return GP_OK;
	for (size_t i = 0; i < REUSES; i++)
		*flag_of(settings, i) = false;
	for (const char *at = text; strcmp(text, "none") != 0;) {
		size_t length = strcspn(at, ",");

		if (!set_reuse(settings, at, length)) {
			gp_diag_hint(diag,
				     "events, opportunistic and internal, "
				     "separated by commas; or none");
			return gp_diag_set(diag, GP_USAGE,
					   "--pool-reuse: there is no %.*s",
					   (int)length, at);
		}
		if (!at[length])
			break;
		at += length + 1;
	}
	return GP_OK;
}

/* Pool settings, PyTorch's by default. GP_USAGE: invalid flag. */
static enum gp_status parse_pool(const struct gp_options *options,
				 struct gp_pool_settings *settings,
				 struct gp_diag *diag)
{
	enum gp_status status;

	*settings = gp_pool_settings_pytorch;
	status = bytes("pool-threshold", options->pool_threshold,
		       &settings->threshold, diag);
	if (status == GP_OK)
		status = bytes("pool-keep", options->pool_keep, &settings->keep,
			       diag);
	if (status == GP_OK)
		status = reuse(options->pool_reuse, settings, diag);
	if (status != GP_OK)
		gp_diag_file(diag, "replay");
	return status;
}

bool gp_plan_has_settings(const struct gp_options *options)
{
	return options->alloc_conf || options->knobs || options->torch ||
	       options->capacity || options->engine ||
	       options->device == GP_DEVICE_CUDA;
}

bool gp_plan_is_asked(const struct gp_options *options)
{
	return gp_plan_has_settings(options) || options->what_if_count;
}

char *gp_plan_conf(const char *a, const char *knobs)
{
	const char *b = knobs ? knobs : "";
	size_t size = strlen(a) + strlen(b) + 2;
	char *both = gp_mem_alloc(size, 1);

	snprintf(both, size, "%s%s%s", a, *a && *b ? "," : "", b);
	return both;
}

static void begin(struct gp_plan *plan, const struct gp_trace *trace)
{
	size_t count;

	*plan = (struct gp_plan){
		.trace = trace,
		.engine = gp_engine_table(&count),
		.pool_settings = gp_pool_settings_pytorch,
		.capacity = gp_mem_alloc(trace->device_count + 1,
					 sizeof(*plan->capacity)),
		.results = gp_mem_alloc(trace->device_count + 1,
					sizeof(*plan->results)),
	};
}

/* The capacities as recorded, or as inferred from the recording. */
static void fit_capacity(struct gp_plan *plan,
			 const struct gp_settings *recorded)
{
	for (uint32_t i = 0; i < plan->trace->device_count; i++)
		plan->capacity[i] =
			gp_replay_fit_capacity(plan->trace, i, recorded);
}

static enum gp_status choose_release(struct gp_plan *plan, struct gp_diag *diag)
{
	plan->has_choice = true;
	return gp_replay_release_of(plan->trace, gp_trace_conf(plan->trace),
				    &plan->choice, diag);
}

/* The same for a what-if: the recording need not be replayable. */
static void choose_release_anyhow(struct gp_plan *plan)
{
	struct gp_diag reason = { 0 };

	if (choose_release(plan, &reason) == GP_OK)
		return;
	plan->choice =
		(struct gp_release_choice){ .release =
						    plan->trace->release.last };
	snprintf(plan->choice.why, sizeof(plan->choice.why),
		 "the newest that could have written it, not compared: %.100s",
		 reason.what);
}

static enum gp_status parse_conf(struct gp_plan *plan, uint8_t release,
				 const char *whose, struct gp_diag *diag)
{
	enum gp_status status;

	gp_settings_init(&plan->settings, release);
	status = gp_settings_parse(&plan->settings, plan->conf, diag);
	if (status != GP_OK) {
		gp_diag_file(diag, whose);
		gp_hint_settings(plan->conf, diag);
		if (!*diag->hint)
			gp_diag_hint(diag,
				     "this is PyTorch 2.%u's answer to \"%s\"",
				     release, plan->conf);
	}
	return status;
}

enum gp_status gp_plan_recorded(struct gp_plan *plan,
				const struct gp_trace *trace,
				struct gp_diag *diag)
{
	enum gp_status status;

	begin(plan, trace);
	plan->conf = gp_plan_conf(gp_trace_conf(trace), NULL);
	plan->mode = gp_trace_has_addresses(trace) ? GP_VERIFY : GP_WHAT_IF;
	status = choose_release(plan, diag);
	if (status == GP_OK)
		status = parse_conf(plan, plan->choice.release,
				    "recorded settings", diag);
	if (status == GP_OK)
		fit_capacity(plan, &plan->settings);
	return status;
}

enum gp_status gp_plan_check_state(const struct gp_plan *plan, uint32_t device,
				   uint64_t event, const struct gp_state *state,
				   struct gp_diag *diag)
{
	struct gp_diag why = { 0 };

	if (plan->mode != GP_VERIFY || gp_state_check(state, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(diag, "gpupool info says how far they agree");
	return gp_diag_set(diag, GP_INPUT,
			   "at event %llu of device %u the replay no longer "
			   "follows the recording: %s: %s",
			   (unsigned long long)event,
			   plan->trace->devices[device].device, why.record,
			   why.what);
}

static enum gp_status find_engine(struct gp_plan *plan,
				  const struct gp_options *options,
				  struct gp_diag *diag)
{
	enum gp_status status = gp_engine_named(options->engine, &plan->opened,
						&plan->engine, diag);

	if (status == GP_USAGE)
		gp_diag_file(diag, options->command);
	return status;
}

static bool runs_torch(const struct gp_plan *plan)
{
	return !strcmp(plan->engine->name, "torch");
}

/* The release that is asked for, else that of the PyTorch that is used, else
 * the recorded one. */
static enum gp_status ask_release(struct gp_plan *plan,
				  const struct gp_options *options,
				  uint8_t *release, struct gp_diag *diag)
{
	const char *torch = options->torch;

	if (!torch && plan->torch_lib)
		return gp_torch_lib_release(plan->torch_lib, release, diag);
	if (!torch) {
		choose_release_anyhow(plan);
		*release = plan->choice.release;
		return GP_OK;
	}
	if (gp_release_parse(torch, release, diag) == GP_OK)
		return GP_OK;
	gp_diag_file(diag, options->command);
	if (!*diag->hint)
		gp_diag_hint(diag, "--torch takes 2.0 to 2.15, or latest");
	return GP_USAGE;
}

/* The capacity that is asked for, else that of the recording under its own
 * settings. */
static void ask_capacity(struct gp_plan *plan, uint64_t capacity,
			 uint8_t release)
{
	struct gp_settings recorded;
	struct gp_diag ignored;

	gp_settings_init(&recorded, release);
	if (!capacity) {
		/* They stay at the defaults if that release refuses the
		 * settings. */
		gp_settings_parse(&recorded, gp_trace_conf(plan->trace),
				  &ignored);
		fit_capacity(plan, &recorded);
	}
	for (size_t i = 0; i < plan->trace->device_count && capacity; i++)
		plan->capacity[i] = capacity;
}

enum gp_status gp_plan_asked(struct gp_plan *plan, const struct gp_trace *trace,
			     const struct gp_options *options,
			     struct gp_diag *diag)
{
	const char *base = options->alloc_conf ? options->alloc_conf
					       : gp_trace_conf(trace);
	enum gp_status status = GP_OK;
	uint8_t release = 0;

	begin(plan, trace);
	plan->conf = gp_plan_conf(base, options->knobs);
	plan->mode = GP_WHAT_IF;
	plan->on_oom = (enum gp_on_oom)options->on_oom;
	if (options->engine)
		status = find_engine(plan, options, diag);
	if (status == GP_OK)
		status = parse_pool(options, &plan->pool_settings, diag);
	if (status == GP_OK && runs_torch(plan) && options->torch_lib)
		status = gp_torch_lib_prepare(options->torch_lib,
					      &plan->torch_lib, diag);
	if (status == GP_OK)
		status = ask_release(plan, options, &release, diag);
	if (status == GP_OK && runs_torch(plan) && !plan->torch_lib)
		status = gp_torch_lib_find(release, &plan->torch_lib, diag);
	if (status == GP_OK)
		status = parse_conf(plan, release, "settings", diag);
	if (status == GP_OK)
		ask_capacity(plan, options->capacity, release);
	if (status == GP_OK)
		gp_plan_foresee(plan);
	return status;
}

enum gp_status gp_plan_make(struct gp_plan *plan, const struct gp_trace *trace,
			    const struct gp_options *options,
			    struct gp_diag *diag)
{
	return gp_plan_is_asked(options)
		       ? gp_plan_asked(plan, trace, options, diag)
		       : gp_plan_recorded(plan, trace, diag);
}

extern char **environ;

void gp_plan_on_cuda(struct gp_plan *plan, struct gp_cuda *cuda,
		     const struct gp_options *options)
{
	uint64_t total = gp_cuda_about(cuda)->total_bytes;

	plan->cuda = cuda;
	plan->check_memory = options->check_memory;
	plan->torch_cuda =
		(struct gp_torch_cuda){ gp_cuda_about(cuda)->library, environ };
	/* PyTorch calls the device itself; otherwise gpupool does, and can
	 * check memory and limit it. */
	plan->asks_itself = runs_torch(plan) && !options->check_memory &&
			    !options->capacity;
	for (size_t i = 0; i < plan->trace->device_count; i++)
		if (!options->capacity || plan->capacity[i] > total)
			plan->capacity[i] = total;
}

static void notify(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

enum gp_status gp_plan_alter(struct gp_plan *plan,
			     const struct gp_options *options,
			     struct gp_progress *progress,
			     struct gp_what_ifs *what_ifs, struct gp_diag *diag)
{
	struct gp_what_if_config config = {
		.trace = plan->trace,
		.asked = options->what_ifs,
		.count = options->what_if_count,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.torch_lib = plan->torch_lib,
		.capacity = plan->capacity,
		.progress = notify,
		.progress_arg = progress,
	};
	enum gp_status status;

	if (!config.count)
		return GP_OK;
	status = gp_what_ifs_make(&config, what_ifs, diag);
	if (status == GP_OK) {
		plan->trace = what_ifs->trace;
		plan->what_ifs = what_ifs;
		gp_plan_foresee(plan);
	}
	return status;
}

static void forget(struct gp_plan *plan)
{
	for (size_t i = 0; plan->places && i < plan->trace->device_count; i++)
		free(plan->places[i]);
	free(plan->places);
	plan->places = NULL;
}

void gp_plan_foresee(struct gp_plan *plan)
{
	const char *known = gp_engine_value(plan->engine, "known");
	const char *rest = gp_engine_value(plan->engine, "rest");

	forget(plan);
	if (!known)
		return;
	plan->places = gp_mem_alloc(plan->trace->device_count + 1,
				    sizeof(*plan->places));
	for (uint32_t i = 0; i < plan->trace->device_count; i++)
		plan->places[i] =
			gp_places_make(plan->trace, i, strtod(known, NULL),
				       !strcmp(rest, "idle"));
}

void gp_plan_release(struct gp_plan *plan)
{
	forget(plan);
	for (size_t i = 0; plan->trace && i < plan->trace->device_count; i++)
		gp_replay_release(&plan->results[i]);
	for (size_t i = 0; plan->tracks && i < plan->trace->device_count; i++)
		gp_track_release(&plan->tracks[i]);
	free(plan->tracks);
	free(plan->results);
	free(plan->capacity);
	free(plan->conf);
	free(plan->torch_lib);
	gp_engine_close(plan->opened);
	*plan = (struct gp_plan){ 0 };
}

void gp_plan_track(struct gp_plan *plan, unsigned parts,
		   const struct gp_alert *alerts, size_t count)
{
	plan->tracks = gp_mem_alloc(plan->trace->device_count + 1,
				    sizeof(*plan->tracks));
	for (size_t i = 0; i < plan->trace->device_count; i++) {
		struct gp_track *track = &plan->tracks[i];

		if (parts & GP_TRACK_THIN)
			track->thin = gp_thin_create();
		if (parts & GP_TRACK_FILM)
			track->film = gp_film_create(&plan->trace->devices[i]);
		track->alerts = gp_mem_alloc(count + 1, sizeof(*alerts));
		track->alert_count = count;
		if (count)
			memcpy(track->alerts, alerts, count * sizeof(*alerts));
	}
}

/* The receivers of the actions of one device. */
struct listener {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	FILE *out;		/* NULL: nobody reads them */
	struct gp_track *track; /* NULL: none */
};

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	const struct listener *listener = arg;

	if (listener->out)
		gp_report_action(listener->trace, listener->device, action,
				 event, listener->out);
	if (listener->track && listener->track->film)
		gp_film_action(listener->track->film, action, event);
}

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	const struct listener *listener = arg;

	gp_track_look(listener->track, allocator, event);
}

static struct gp_device *make_device(void *arg, uint32_t ordinal,
				     uint64_t capacity)
{
	return gp_cuda_device_create(arg, ordinal, capacity);
}

struct gp_replay_config gp_plan_simulated(const struct gp_plan *plan,
					  uint32_t device)
{
	return (struct gp_replay_config){
		.trace = plan->trace,
		.device = device,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.torch_lib = plan->torch_lib,
		.torch_cuda = plan->asks_itself ? &plan->torch_cuda : NULL,
		.pool_settings = &plan->pool_settings,
		.places = plan->places ? plan->places[device] : NULL,
		.mode = plan->mode,
		.capacity = plan->capacity[device],
	};
}

struct gp_replay_config gp_plan_config(const struct gp_plan *plan,
				       uint32_t device)
{
	struct gp_replay_config config = gp_plan_simulated(plan, device);

	config.on_oom = plan->on_oom;
	config.make_device = plan->cuda ? make_device : NULL;
	config.make_device_arg = plan->cuda;
	config.check_memory = plan->check_memory;
	config.keep_alike = plan->keep_alike;
	config.is_interrupted = plan->is_interrupted;
	config.cut = plan->cut;
	return config;
}

static enum gp_status play_device(struct gp_plan *plan, uint32_t device,
				  FILE *events, struct gp_diag *diag)
{
	struct gp_track *track = plan->tracks ? &plan->tracks[device] : NULL;
	struct listener listener = { plan->trace, &plan->trace->devices[device],
				     events, track };
	struct gp_replay_config config = gp_plan_config(plan, device);
	enum gp_status status;

	if (events || (track && track->film))
		config.action = hear;
	config.action_arg = &listener;
	config.look = track ? look : NULL;
	config.look_arg = &listener;
	status = gp_replay(&config, &plan->results[device], diag);
	for (size_t i = 0; track && i < track->alert_count; i++)
		gp_alert_end(&track->alerts[i], &plan->results[device]);
	return status;
}

enum gp_status gp_plan_play(struct gp_plan *plan, FILE *events,
			    struct gp_progress *progress, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	char what[64];

	for (uint32_t i = 0; i < plan->trace->device_count && status == GP_OK;
	     i++) {
		snprintf(what, sizeof(what), "replaying device %u of %zu",
			 i + 1, plan->trace->device_count);
		if (progress)
			gp_progress_step(progress, what);
		status = play_device(plan, i, events, diag);
	}
	return status;
}

struct gp_run gp_plan_run(const struct gp_plan *plan)
{
	return (struct gp_run){
		.trace = plan->trace,
		.what_ifs = plan->what_ifs,
		.settings = &plan->settings,
		.conf = plan->conf,
		.engine = plan->engine->name,
		.mode = plan->mode,
		.choice = plan->has_choice ? &plan->choice : NULL,
		.capacity = plan->capacity,
		.results = plan->results,
		.tracks = plan->tracks,
		.cuda = plan->cuda ? gp_cuda_about(plan->cuda) : NULL,
	};
}

enum gp_status gp_plan_verdict(const struct gp_plan *plan, struct gp_diag *diag)
{
	uint64_t checked = 0, matched = 0;

	for (size_t i = 0; i < plan->trace->device_count; i++) {
		const struct gp_fidelity *f = &plan->results[i].fidelity;

		checked += f->checked + f->segments_checked;
		matched += f->matched + f->segments_matched;
	}
	if (checked && checked == matched)
		return GP_OK;
	if (!checked)
		return gp_diag_set(diag, GP_FAILED,
				   "the trace has no addresses to compare");
	return gp_diag_set(diag, GP_FAILED,
			   "%s of %s addresses and segments differ from the "
			   "recorded ones",
			   GP_COUNT(checked - matched), GP_COUNT(checked));
}

enum gp_status gp_plan_memory(const struct gp_plan *plan, struct gp_diag *diag)
{
	for (size_t i = 0; plan->trace && i < plan->trace->device_count; i++) {
		const struct gp_memory_check *memory = &plan->results[i].memory;

		if (!memory->changed)
			continue;
		gp_diag_record(diag, "event %llu",
			       (unsigned long long)memory->first_event);
		return gp_diag_set(diag, GP_FAILED,
				   "its block did not read as written; %llu of "
				   "%llu blocks did not",
				   (unsigned long long)memory->changed,
				   (unsigned long long)memory->blocks);
	}
	return GP_OK;
}

/* ---- comparing a recording with its replay ---- */

struct counting {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	struct gp_proof *proof;
};

static const struct gp_counter *find_counter(const struct counting *c,
					     const char *key)
{
	for (size_t i = 0; i < c->device->counter_count; i++) {
		const struct gp_counter *counter = &c->device->counters[i];

		if (!strcmp(c->trace->texts[counter->text], key))
			return counter;
	}
	return NULL;
}

/* Compares a counter with the recorded one, if it was recorded. */
static void compare(void *arg, const char *key, int64_t value)
{
	const struct counting *c = arg;
	const struct gp_counter *counter = find_counter(c, key);
	struct gp_proof *proof = c->proof;

	if (!counter)
		return;
	proof->counters++;
	if (counter->value == value) {
		proof->same_counters++;
	} else if (!*proof->name) {
		snprintf(proof->name, sizeof(proof->name), "%s", key);
		proof->recorded = counter->value;
		proof->replayed = value;
	}
}

struct gp_proof gp_proof_of(const struct gp_plan *plan)
{
	struct gp_proof proof = { 0 };

	for (size_t i = 0; i < plan->trace->device_count; i++) {
		const struct gp_replay_result *result = &plan->results[i];
		struct counting counting = { plan->trace,
					     &plan->trace->devices[i], &proof };

		proof.allocs += result->allocs;
		proof.addresses += result->fidelity.checked;
		proof.same_addresses += result->fidelity.matched;
		gp_stats_each(plan->trace, result, plan->settings.release,
			      compare, &counting);
	}
	return proof;
}

bool gp_proof_is_exact(const struct gp_proof *proof)
{
	return proof->addresses == proof->same_addresses &&
	       proof->counters == proof->same_counters;
}

const char *gp_proof_text(const struct gp_proof *proof,
			  char text[GP_PROOF_TEXT])
{
	size_t n;

	n = (size_t)snprintf(text, GP_PROOF_TEXT, "%s of %s addresses",
			     GP_COUNT(proof->same_addresses),
			     GP_COUNT(proof->addresses));
	if (!proof->counters)
		return text;
	if (proof->counters == proof->same_counters)
		snprintf(text + n, GP_PROOF_TEXT - n, ", all %s counters",
			 GP_COUNT(proof->counters));
	else
		snprintf(text + n, GP_PROOF_TEXT - n,
			 ", %s of %s counters; %s is %" PRId64
			 ", recorded %" PRId64,
			 GP_COUNT(proof->same_counters),
			 GP_COUNT(proof->counters), proof->name,
			 proof->replayed, proof->recorded);
	return text;
}
