/* SPDX-License-Identifier: MIT */
/* A plan: a run of a whole trace, one device after another; and, once it has
 * been made, its results. */
#ifndef COMMANDS_PLAN_H
#define COMMANDS_PLAN_H

#include <stdio.h>

#include "commands/options.h"
#include "commands/progress.h"
#include "device/cuda.h"
#include "gpupool/replay.h"
#include "gpupool/trace.h"
#include "report/report.h"
#include "study/what_if/what_if.h"

struct gp_plan {
	const struct gp_trace *trace;	    /* altered, if there are what-ifs */
	const struct gp_what_ifs *what_ifs; /* borrowed; NULL: none */
	struct gp_settings settings;
	char *conf;	 /* owned */
	char *torch_lib; /* owned; NULL: none */
	const struct gp_engine *engine;
	struct gp_engine *opened; /* owned: that engine, out of a library */
	struct gp_cuda *cuda;	  /* borrowed; NULL: the device is simulated */
	struct gp_torch_cuda torch_cuda;
	bool check_memory, asks_itself; /* PyTorch calls the device itself */
	bool keep_alike;		/* in the results */
	struct gp_pool_settings pool_settings;
	bool (*is_interrupted)(void); /* NULL: the run is not interrupted */
	enum gp_replay_mode mode;
	enum gp_on_oom on_oom;
	struct gp_release_choice choice;
	bool has_choice;		  /* else the user chose the release */
	uint64_t *capacity;		  /* owned; per device */
	struct gp_replay_result *results; /* owned; per device */
	const struct gp_replay_cut *cut;  /* borrowed; NULL: runs go on */
	uint64_t **places; /* owned; per device, of the engine plan; or NULL */
	struct gp_track *tracks; /* owned; per device; NULL: none */
};

/* A conf with the settings' flags appended; knobs NULL: none. The caller frees
 * the text. */
char *gp_plan_conf(const char *conf, const char *knobs);

/* Whether the options ask for anything other than what was recorded. */
bool gp_plan_has_settings(const struct gp_options *options);
/* The same, or for what-ifs. */
bool gp_plan_is_asked(const struct gp_options *options);

/* A plan as recorded: verified if the trace has addresses. */
enum gp_status gp_plan_recorded(struct gp_plan *plan,
				const struct gp_trace *trace,
				struct gp_diag *diag);
/* GP_INPUT if segments overlap, so that the state cannot be written: this
 * happens when a replay as recorded diverges from the recording. */
enum gp_status gp_plan_check_state(const struct gp_plan *plan, uint32_t device,
				   uint64_t event, const struct gp_state *state,
				   struct gp_diag *diag);
/* A plan as the options ask, on a simulated device. */
enum gp_status gp_plan_asked(struct gp_plan *plan, const struct gp_trace *trace,
			     const struct gp_options *options,
			     struct gp_diag *diag);
/* A plan as the options ask; as recorded if they ask for nothing. */
enum gp_status gp_plan_make(struct gp_plan *plan, const struct gp_trace *trace,
			    const struct gp_options *options,
			    struct gp_diag *diag);
/* Moves the plan to the device of that runtime, with its capacity unless
 * another was asked for. */
void gp_plan_on_cuda(struct gp_plan *plan, struct gp_cuda *cuda,
		     const struct gp_options *options);
/* Replaces the plan's trace by one that the options' what-ifs alter; the caller
 * releases what_ifs after the plan. */
enum gp_status gp_plan_alter(struct gp_plan *plan,
			     const struct gp_options *options,
			     struct gp_progress *progress,
			     struct gp_what_ifs *what_ifs,
			     struct gp_diag *diag);
/* Computes what the engine has to know of the whole trace, if anything. */
void gp_plan_foresee(struct gp_plan *plan);
/* Also for a zeroed or half-made plan. */
void gp_plan_release(struct gp_plan *plan);

/* To be called before the replay: chooses what is kept during it. Copies the
 * alerts. */
enum gp_track_part { GP_TRACK_THIN = 1 << 0, GP_TRACK_FILM = 1 << 1 };
void gp_plan_track(struct gp_plan *plan, unsigned parts,
		   const struct gp_alert *alerts, size_t count);

/* Replays all devices, and writes each action to events; NULL: no events, or no
 * progress. */
enum gp_status gp_plan_play(struct gp_plan *plan, FILE *events,
			    struct gp_progress *progress, struct gp_diag *diag);

/* The configuration to replay one device of the plan in full on a simulated
 * device, for further analysis. */
struct gp_replay_config gp_plan_simulated(const struct gp_plan *plan,
					  uint32_t device);
/* The configuration with which gp_plan_play replays one device, for callers
 * with callbacks of their own. */
struct gp_replay_config gp_plan_config(const struct gp_plan *plan,
				       uint32_t device);

/* The replayed plan in the form that reports take; borrows from the plan. */
struct gp_run gp_plan_run(const struct gp_plan *plan);

/* GP_FAILED: a memory check found memory that had changed. */
enum gp_status gp_plan_memory(const struct gp_plan *plan, struct gp_diag *diag);

/* GP_FAILED: recorded addresses differ, or there are none. */
enum gp_status gp_plan_verdict(const struct gp_plan *plan,
			       struct gp_diag *diag);

/* How well a replay matches the recording, for all devices together. */
struct gp_proof {
	uint64_t allocs;
	uint64_t addresses, same_addresses; /* of those that were recorded */
	uint64_t counters, same_counters;
	char name[96]; /* the first counter that differs; "": none */
	int64_t recorded, replayed;
};

/* The plan must have been replayed. */
struct gp_proof gp_proof_of(const struct gp_plan *plan);

bool gp_proof_is_exact(const struct gp_proof *proof);

/* "14,956 of 14,956 addresses, all 123 counters" */
#define GP_PROOF_TEXT 320
const char *gp_proof_text(const struct gp_proof *proof,
			  char text[GP_PROOF_TEXT]);

#endif
