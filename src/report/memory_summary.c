/* SPDX-License-Identifier: MIT */
/*
 * torch.cuda.memory_summary(), byte for byte: torch/cuda/memory.py, the same in
 * releases 2.0 to 2.15.
 */
#include "report/report.h"

#include <inttypes.h>

#define WIDTH 75 /* of a line, between its bars */

/* The units for one kind of number. */
struct scale {
	const char *const *units;
	unsigned count;
	int64_t step;
	double enough; /* the largest value shown without the next unit */
	const char *format;
};

static const char *const byte_units[] = { "B  ", "KiB", "MiB",
					  "GiB", "TiB", "PiB" };
static const char *const count_units[] = { "   ", "K  ", "M  " };

static const struct scale bytes = { byte_units, 6, 1024, 768 * 1024,
				    " %6" PRId64 " %s |" };
static const struct scale counts = { count_units, 3, 1000, 750 * 1000,
				     " %7" PRId64 " %s|" };

static const struct metric {
	const char *name;
	enum gp_stat_id id;
	const struct scale *scale;
} metrics[] = {
	{ "Allocated memory", GP_STAT_ALLOCATED_BYTES, &bytes },
	{ "Active memory", GP_STAT_ACTIVE_BYTES, &bytes },
	{ "Requested memory", GP_STAT_REQUESTED_BYTES, &bytes },
	{ "GPU reserved memory", GP_STAT_RESERVED_BYTES, &bytes },
	{ "Non-releasable memory", GP_STAT_INACTIVE_SPLIT_BYTES, &bytes },
	{ "Allocations", GP_STAT_ALLOCATION, &counts },
	{ "Active allocs", GP_STAT_ACTIVE, &counts },
	{ "GPU reserved segments", GP_STAT_SEGMENT, &counts },
	{ "Non-releasable allocs", GP_STAT_INACTIVE_SPLIT, &counts },
};

static void write_rule(char c, FILE *out)
{
	putc('|', out);
	for (int i = 0; i < WIDTH; i++)
		putc(c, out);
	fputs("|\n", out);
}

/* Writes value in the unit that suits `like`: the rows of pools use the unit of
 * their sum. */
static void write_cell(const struct scale *scale, int64_t value, int64_t like,
		       FILE *out)
{
	double rest = (double)like;
	unsigned unit = 0;

	while (unit + 1 < scale->count && rest >= scale->enough) {
		value /= scale->step;
		rest /= (double)scale->step;
		unit++;
	}
	fprintf(out, scale->format, value, scale->units[unit]);
}

static void write_row(const char *name, const struct scale *scale,
		      const struct gp_stat *stat, const struct gp_stat *like,
		      FILE *out)
{
	fprintf(out, "| %-21s |", name);
	write_cell(scale, stat->current, like->current, out);
	write_cell(scale, stat->peak, like->peak, out);
	write_cell(scale, stat->allocated, like->allocated, out);
	write_cell(scale, stat->freed, like->freed, out);
	putc('\n', out);
}

static void write_head(const struct gp_stats *stats, uint32_t device, FILE *out)
{
	write_rule('=', out);
	fprintf(out, "| %16s PyTorch CUDA memory summary, device ID %-17u |\n",
		"", device);
	write_rule('-', out);
	fprintf(out,
		"|  %9s CUDA OOMs: %-12" PRId64 " | %6s cudaMalloc retries: "
		"%-8" PRId64 "  |\n",
		"", stats->num_ooms, "", stats->num_alloc_retries);
	write_rule('=', out);
	fputs("|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  "
	      "| Tot Freed  |\n",
	      out);
}

static void write_metric(const struct metric *metric,
			 const struct gp_stats *stats, bool is_abbreviated,
			 FILE *out)
{
	const struct gp_stat *by_pool = stats->by_pool[metric->id];
	const struct gp_stat *all = &by_pool[GP_STAT_ALL];

	write_rule('-', out);
	write_row(metric->name, metric->scale, all, all, out);
	if (is_abbreviated)
		return;
	write_row("      from large pool", metric->scale,
		  &by_pool[GP_STAT_LARGE], all, out);
	write_row("      from small pool", metric->scale,
		  &by_pool[GP_STAT_SMALL], all, out);
}

static void write_oversize(const char *name, const struct gp_stat *stat,
			   FILE *out)
{
	write_rule('-', out);
	write_row(name, &counts, stat, stat, out);
}

void gp_report_device_summary(const struct gp_stats *stats, uint32_t device,
			      bool is_abbreviated, FILE *out)
{
	write_head(stats, device, out);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		write_metric(&metrics[i], stats, is_abbreviated, out);
	write_oversize("Oversize allocations", &stats->oversize_allocations,
		       out);
	write_oversize("Oversize GPU segments", &stats->oversize_segments, out);
	write_rule('=', out);
}

void gp_report_memory_summary(const struct gp_report *report,
			      bool is_abbreviated, FILE *out)
{
	const struct gp_run *run = &report->runs[report->run_count - 1];

	for (size_t i = 0; i < report->trace->device_count; i++)
		gp_report_device_summary(&run->results[i].stats,
					 report->trace->devices[i].device,
					 is_abbreviated, out);
}
