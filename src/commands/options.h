/* SPDX-License-Identifier: MIT */
/*
 * What a command line asks for. A command declares which options it takes
 * (commands/command.h); settings of the allocator are in gp_knob_table.
 */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "study/what_if/what_if.h"
#include "gpupool/trace.h"

/* The values of --format, --to, and of flags such as --json. */
enum gp_format {
	GP_FORMAT_BY_NAME, /* by the name of the output file */
	GP_FORMAT_TEXT,
	GP_FORMAT_JSON,
	GP_FORMAT_JSONL,
	GP_FORMAT_BINARY,
	GP_FORMAT_PICKLE,
	GP_FORMAT_PERFETTO,
	GP_FORMAT_SPEEDSCOPE,
	GP_FORMAT_FOLDED,
	GP_FORMAT_CSV,
	GP_FORMAT_MARKDOWN,
	GP_FORMAT_SUMMARY, /* torch.cuda.memory_summary() */
	GP_FORMAT_SUMMARY_ABBREVIATED,
	GP_FORMAT_HTML,
	GP_FORMAT_SVG,
	GP_FORMAT_JUNIT,
	GP_FORMAT_GITHUB,
	GP_FORMAT_CODEQUALITY,
};
enum gp_device_choice { GP_DEVICE_SIM, GP_DEVICE_CUDA };
enum gp_color { GP_COLOR_AUTO, GP_COLOR_ALWAYS, GP_COLOR_NEVER };

#define GP_COUNT_BY_DEFAULT UINT64_MAX

/* The values of a flag that may be repeated, in order. */
struct gp_texts {
	const char **items; /* the array is owned, the texts are not */
	size_t count, room;
};

/* Zero and NULL: not given.  Texts are borrowed from argv. */
struct gp_options {
	const char *command; /* its name, for messages */
	uint32_t own;	     /* a bit for each given option of gp_command.own */
	const char *alloc_conf, *torch, *torch_lib, *engine, *output, *events,
		*only;
	const char *fail_over; /* AMOUNT, as typed */
	const char *map, *timeline;
	const char *from_trace;
	struct gp_texts alerts;
	const char *gpu, *devices, *complete;
	const char *kept; /* the trace; set by fit */
	const char *steps_of, *scalar, *cudnn, *context;
	const char *values; /* for a recorded program: known, drawn:SEED, all */
	uint64_t seeds;	    /* 0: not given */
	uint64_t ranks;	    /* 0: not given */
	struct gp_texts vary; /* NAME=1..512, at most one */
	bool stacks, times;
	char *knobs; /* owned: "name:value,..." of the settings' flags */
	struct gp_texts confs;	     /* --alloc-conf, if there may be several */
	struct gp_texts without;     /* names of settings */
	struct gp_texts sets;	     /* axes of a sweep */
	struct gp_what_if *what_ifs; /* owned; as given */
	size_t what_if_count, what_if_room;
	const char *preset, *confs_file, *shard, *resume, *prices;
	uint64_t jobs;
	uint64_t most_runs; /* 0: the default */
	uint32_t rank_by;   /* enum gp_rank_by */
	uint64_t capacity;
	uint64_t from_event;
	uint64_t to_event, points, tries; /* GP_COUNT_BY_DEFAULT */
	uint64_t max_input;
	uint64_t round, steps; /* in millions */
	enum gp_format format; /* GP_FORMAT_TEXT by default, if possible */
	bool run;	       /* convert: write the run, not the trace */
	uint32_t on_oom;       /* enum gp_on_oom */
	uint32_t color;	       /* enum gp_color */
	uint32_t device;       /* enum gp_device_choice */
	const char *cudart, *prices_out;
	const char *pool_threshold, *pool_reuse, *pool_keep; /* as typed */
	uint64_t repeat;
	/* for gpupool view */
	const char *at, *find, *op, *stream;
	uint64_t gpu_device, block, byte; /* GP_COUNT_BY_DEFAULT */
	uint64_t columns, bands, row, rows, least_size, most_size;
	uint32_t by; /* enum gp_hold_by */
	bool before;
	bool compare, timing, strict, ascii, quiet, help;
	bool update, details, check_memory, about, anonymous, cut;
	const char *const *operands;
	size_t operand_count;
};

struct gp_command;

/* argv[0] is the command's name; argv is reordered. The caller releases the
 * options, also on failure. */
enum gp_status gp_options_parse(struct gp_options *options,
				const struct gp_command *command, int argc,
				char **argv, struct gp_diag *diag);
/* The number of threads: --jobs, else the processors that this process may use.
 */
size_t gp_options_threads(const struct gp_options *options);
/* GP_USAGE: an option that only matters with --device cuda was given without
 * it. */
enum gp_status gp_options_check_device(const struct gp_options *options,
				       struct gp_diag *diag);
void gp_options_release(struct gp_options *options);

#endif
