# SPDX-License-Identifier: MIT
# A measure: its id, a row, the pages that are made of the table, a test.
# shellcheck shell=sh disable=SC2154

add_measure() {
	insert include/gpupool/metrics.h '^	GP_FIRST_OOM_ALLOC,' << 'END'
	GP_PEAK_IDLE,
END
	insert src/study/metrics/measure.c '^/. ---- the table ---- ./' << 'END'
static uint64_t measure_peak_idle(const struct gp_subject *s)
{
	return minus(s->result->at_peak.reserved, s->result->at_peak.active);
}

END
	insert src/study/metrics/measure.c '^	.GP_FIRST_OOM_ALLOC. = .$' << 'END'
	[GP_PEAK_IDLE] = {
		.key = "peak_idle_bytes",
		.label = "Idle at the peak",
		.unit = GP_UNIT_BYTES,
		.scope = GP_SCOPE_RUN,
		.meaning = "reserved and not active at the peak",
		.formula = "reserved_bytes - active_bytes, at the peak",
		.reading = "What a perfect packing would not need.",
		.count = measure_peak_idle,
	},
END
}

# The report that is shown whole.
say_measure() {
	page metrics.7
	page report.5
	answers replay_json
}

try_measure() {
	grep -q '"peak_idle_bytes": 2096640,' tests/cli/replay_json.test ||
		echo "the report does not have it"
	build/gpupool help metrics | grep -q '^  peak_idle_bytes ' ||
		echo "help metrics does not name it"
	build/gpupool help report-schema | grep -q peak_idle_bytes ||
		echo "the schema does not have it"
}
