/* SPDX-License-Identifier: MIT */
/* The ranks of a job, for a person and for a program. */
#include "report/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "base/text.h"
#include "base/utf8.h"
#include "report/emit.h"
#include "report/head.h"
#include "report/svg_parts.h"
#include "report/verdict.h"
#include "report/object.h"

#define NAMED	   4  /* differing names in a sentence */
#define ROWS_SHOWN 12 /* of the table */

/* ---- names ---- */

/* The file's name without folders, unless another file has the same name. */
static const char *name_of(const struct gp_ranks *ranks, const char *path)
{
	const char *name = gp_page_name(path);
	size_t same = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0; k < ranks->classes[i].count; k++)
			same += !strcmp(
				gp_page_name(ranks->classes[i].paths[k]), name);
	return same > 1 ? path : name;
}

/* The number of other files like this one. */
static size_t like(const struct gp_ranks *ranks, const char *path)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (!strcmp(ranks->classes[i].paths[0], path))
			return ranks->classes[i].count - 1;
	return 0;
}

static const char *title_of(const struct gp_ranks *ranks, const char *path,
			    const char *which, char text[RANKS_TITLE])
{
	char others[48] = "";

	if (!ranks || ranks->files == 1) {
		snprintf(text, RANKS_TITLE, "%.*s",
			 GP_WITHIN(200, gp_page_name(path)));
		return text;
	}
	if (ranks->count > 1 && like(ranks, path))
		snprintf(others, sizeof(others), " and %zu like it",
			 like(ranks, path));
	snprintf(text, RANKS_TITLE, "%.*s%s, %s of %zu ranks",
		 GP_WITHIN(200, name_of(ranks, path)), others,
		 ranks->count == 1 ? "one" : which, ranks->files);
	return text;
}

const char *ranks_title(const struct gp_ranks *ranks, const char *path,
			char text[RANKS_TITLE])
{
	return title_of(ranks, path, "the worst", text);
}

const char *ranks_need_title(const struct gp_ranks *ranks, const char *path,
			     char text[RANKS_TITLE])
{
	return title_of(ranks, path, "the largest need", text);
}

static bool any_fails(const struct gp_rank_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->runs[i].ooms || runs->runs[i].dropped)
			return true;
	return false;
}

const char *ranks_run_title(const struct gp_ranks *ranks,
			    const struct gp_rank_runs *runs, const char *path,
			    char text[RANKS_TITLE])
{
	return title_of(ranks, path,
			runs && any_fails(runs) ? "fails most" : "largest",
			text);
}

const char *ranks_name(const struct gp_ranks *ranks, size_t index,
		       char text[RANKS_TITLE])
{
	size_t class = ranks ? gp_ranks_class_of(ranks, index) : 0;

	snprintf(
		text, RANKS_TITLE, "%.*s",
		GP_WITHIN(200, ranks && ranks->files > 1
				       ? name_of(ranks,
						 ranks->classes[class].paths[0])
				       : "it"));
	return text;
}

uint32_t ranks_device(const struct gp_ranks *ranks, size_t index)
{
	if (!ranks)
		return (uint32_t)index;
	return (uint32_t)(index -
			  ranks->classes[gp_ranks_class_of(ranks, index)]
				  .first_case);
}

/* ---- how many are alike ---- */

static size_t largest(const struct gp_ranks *ranks)
{
	size_t most = 0;

	for (size_t i = 1; i < ranks->count; i++)
		if (ranks->classes[i].count > ranks->classes[most].count)
			most = i;
	return most;
}

static void say_groups(struct gp_words *words, const struct gp_ranks *ranks,
		       size_t most)
{
	size_t named = 0, groups = 0;

	for (size_t i = 0; i < ranks->count; i++)
		groups += i != most && ranks->classes[i].count > 1;
	for (size_t i = 0; i < ranks->count && named < NAMED; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		if (i == most || class->count < 2)
			continue;
		gp_say(words, ", %zu are as %.*s", class->count,
		       GP_WITHIN(80, name_of(ranks, class->paths[0])));
		named++;
	}
	if (groups > named)
		gp_say(words, ", and there are %zu more groups",
		       groups - named);
}

static void say_single(struct gp_words *words, const struct gp_ranks *ranks)
{
	size_t count = 0, named = 0;

	for (size_t i = 0; i < ranks->count; i++)
		count += ranks->classes[i].count == 1;
	for (size_t i = 0; i < ranks->count && named < NAMED; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];
		const char *before = !named		  ? "; "
				     : named + 1 == count ? " and "
							  : ", ";

		if (class->count > 1)
			continue;
		gp_say(words, "%s%.*s", before,
		       GP_WITHIN(80, name_of(ranks, class->paths[0])));
		named++;
	}
	if (count > named)
		gp_say(words, " and %zu more", count - named);
	if (count)
		gp_say(words, count > 1 ? " differ" : " differs");
}

static struct gp_words how_alike(const struct gp_ranks *ranks)
{
	struct gp_words words = { "" };
	size_t most = largest(ranks);
	size_t alike = ranks->classes[most].count;

	if (ranks->count == 1)
		gp_say(&words, "all %zu are alike", ranks->files);
	else if (alike == 1)
		gp_say(&words, "no two of %zu are alike", ranks->files);
	else
		gp_say(&words, "%zu of %zu are alike", alike, ranks->files);
	if (ranks->count > 1 && alike > 1) {
		say_groups(&words, ranks, most);
		say_single(&words, ranks);
	}
	return words;
}

/* ---- ranks that were recorded with other settings ---- */

static bool is_as_first(const struct gp_ranks *ranks, size_t index)
{
	const struct gp_rank_class *a = ranks->classes;
	const struct gp_rank_class *b = &ranks->classes[index];

	return b->is_idle || !a->conf || !b->conf ||
	       (a->release == b->release && !strcmp(a->conf, b->conf));
}

/* The number of classes that were recorded with other settings; *files: the
 * number of their files. */
static size_t count_others(const struct gp_ranks *ranks, size_t *files)
{
	size_t others = 0;

	*files = 0;
	for (size_t i = 1; i < ranks->count; i++)
		if (!is_as_first(ranks, i)) {
			others++;
			*files += ranks->classes[i].count;
		}
	return others;
}

static void say_others(struct gp_words *words, const struct gp_ranks *ranks)
{
	size_t named = 0;

	for (size_t i = 1; i < ranks->count && named < NAMED; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		if (is_as_first(ranks, i))
			continue;
		gp_say(words, "%s%.*s by 2.%u with %.120s", named++ ? "; " : "",
		       GP_WITHIN(80, name_of(ranks, class->paths[0])),
		       class->release, gp_head_settings(class->conf));
	}
}

static struct gp_words how_recorded(const struct gp_ranks *ranks,
				    enum ranks_settings settings)
{
	const struct gp_rank_class *first = ranks->classes;
	struct gp_words words = { "" };
	size_t files, others = count_others(ranks, &files);

	if (!others)
		return words;
	if (settings == RANKS_OWN_SETTINGS)
		gp_say(&words, "%.*s by 2.%u with %.120s; ",
		       GP_WITHIN(80, name_of(ranks, first->paths[0])),
		       first->release, gp_head_settings(first->conf));
	if (settings == RANKS_BRIEFLY)
		gp_say(&words,
		       "%zu of %zu by another release or with other "
		       "settings",
		       files, ranks->files);
	else
		say_others(&words, ranks);
	if (others > NAMED && settings != RANKS_BRIEFLY)
		gp_say(&words, "; and %zu more", others - NAMED);
	if (settings == RANKS_OWN_SETTINGS)
		return words;
	gp_say(&words, ". All are replayed by 2.%u with %.120s, as ",
	       first->release, gp_head_settings(first->conf));
	if (2 * files < ranks->files)
		gp_say(&words, "most were");
	else
		gp_say(&words, "%.*s was",
		       GP_WITHIN(80, name_of(ranks, first->paths[0])));
	return words;
}

static struct gp_words how_unread(const struct gp_ranks *ranks)
{
	struct gp_words words = { "" };

	for (size_t i = 0; i < ranks->unread_count && i < NAMED; i++)
		gp_say(&words, "%s%.*s: %.*s", i ? "; " : "",
		       GP_WITHIN(80, gp_page_name(ranks->unread[i].path)),
		       GP_WITHIN(160, ranks->unread[i].reason));
	if (ranks->unread_count > NAMED)
		gp_say(&words, "; and %zu more", ranks->unread_count - NAMED);
	return words;
}

static bool has_state(const struct gp_trace *trace)
{
	for (size_t i = 0; i < trace->device_count; i++)
		if (gp_trace_has_state(&trace->devices[i]))
			return true;
	return false;
}

/* Ranks without requests are judged by what they hold; they are not
 * replayed. */
static struct gp_words how_idle(const struct gp_ranks *ranks)
{
	struct gp_words words = { "" };
	size_t named = 0, files = 0, states = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		if (!class->is_idle)
			continue;
		files += class->count;
		states += has_state(class->trace) ? class->count : 0;
		for (size_t k = 0; k < class->count && named < NAMED; k++)
			gp_say(&words, "%s%.*s", named++ ? ", " : "",
			       GP_WITHIN(80, name_of(ranks, class->paths[k])));
	}
	if (files > named)
		gp_say(&words, " and %zu more", files - named);
	if (states)
		gp_say(&words, ": %s the state of the memory",
		       states == files ? "only" : "at most");
	return words;
}

/* ---- missing ranks ---- */

/* Names that are the same but for a number: rank_0.gpt, rank_1.gpt. */
struct series {
	const char **names; /* owned */
	uint64_t *numbers;  /* owned; ascending */
	size_t count;
	size_t before, after; /* length of what surrounds the number */
	bool is_padded;	      /* all numbers have the same number of digits */
};

static void list_names(const struct gp_ranks *ranks, struct series *series)
{
	size_t n = 0;

	series->count = ranks->files + ranks->unread_count;
	series->names = gp_mem_alloc(series->count + 1, sizeof(*series->names));
	series->numbers =
		gp_mem_alloc(series->count + 1, sizeof(*series->numbers));
	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0; k < ranks->classes[i].count; k++)
			series->names[n++] =
				gp_page_name(ranks->classes[i].paths[k]);
	for (size_t i = 0; i < ranks->unread_count; i++)
		series->names[n++] = gp_page_name(ranks->unread[i].path);
}

/* Finds the part in which names differ, and extends it by the digits around
 * it. */
static void find_number(struct series *series)
{
	const char *first = series->names[0];
	size_t length = strlen(first);

	series->before = series->after = length;
	for (size_t k = 1; k < series->count; k++) {
		const char *name = series->names[k];
		size_t n = strlen(name), i = 0;

		while (i < series->before && name[i] == first[i])
			i++;
		series->before = i;
		for (i = 0; i < series->after && i < n &&
			    name[n - 1 - i] == first[length - 1 - i];)
			i++;
		series->after = i;
	}
	while (series->before && gp_is_digit(first[series->before - 1]))
		series->before--;
	while (series->after && gp_is_digit(first[length - series->after]))
		series->after--;
}

/* No rank has more digits. */
#define MOST_DIGITS 9

/* The number in a name; false: the name has other text in that place. */
static bool number_of(const struct series *series, const char *name,
		      uint64_t *number)
{
	size_t length = strlen(name), around = series->before + series->after;

	*number = 0;
	if (length <= around || length > around + MOST_DIGITS)
		return false;
	for (size_t i = series->before; i < length - series->after; i++) {
		if (!gp_is_digit(name[i]))
			return false;
		*number = *number * 10 + (uint64_t)(name[i] - '0');
	}
	return true;
}

/* False: the files do not form such a series. */
static bool series_of(const struct gp_ranks *ranks, struct series *series)
{
	list_names(ranks, series);
	if (series->count < 3)
		return false;
	find_number(series);
	series->is_padded = true;
	for (size_t k = 0; k < series->count; k++) {
		if (!number_of(series, series->names[k], &series->numbers[k]))
			return false;
		series->is_padded &=
			strlen(series->names[k]) == strlen(series->names[0]);
	}
	gp_sort(GP_SORTED_NUMBERS(series->numbers, series->count));
	return true;
}

#define NAME_ROOM 256

static const char *name_in(const struct series *series, uint64_t number,
			   char text[NAME_ROOM])
{
	const char *name = series->names[0];
	size_t length = strlen(name);
	size_t digits = length - series->before - series->after;

	snprintf(text, NAME_ROOM, "%.*s%0*" PRIu64 "%.80s",
		 (int)gp_smaller(series->before, 80), name,
		 series->is_padded ? (int)digits : 1, number,
		 name + length - series->after);
	return text;
}

/* The numbers that are missing from the series. */
struct missing {
	struct series series;
	uint64_t *numbers; /* owned; ascending */
	size_t count;
};

/* The number of missing ranks. Ranks are counted from 0 or 1, and few of them
 * are missing; otherwise the numbers are not ranks: 0. */
static size_t count_missing(const struct series *series)
{
	const uint64_t *numbers = series->numbers;
	uint64_t all = numbers[series->count - 1] - numbers[0] + 1, missing = 0;

	for (size_t k = 1; k < series->count; k++)
		if (numbers[k] > numbers[k - 1])
			missing += numbers[k] - numbers[k - 1] - 1;
	return numbers[0] > 1 || missing > all / 4 ? 0 : (size_t)missing;
}

static struct missing missing_of(const struct gp_ranks *ranks)
{
	struct missing m = { 0 };
	size_t count, k = 0;

	if (!series_of(ranks, &m.series))
		return m;
	count = count_missing(&m.series);
	m.numbers = gp_mem_alloc(count + 1, sizeof(*m.numbers));
	for (uint64_t next = m.series.numbers[0]; m.count < count; next++) {
		while (m.series.numbers[k] < next)
			k++;
		if (m.series.numbers[k] > next)
			m.numbers[m.count++] = next;
	}
	return m;
}

static void missing_release(struct missing *missing)
{
	free(missing->series.names);
	free(missing->series.numbers);
	free(missing->numbers);
}

static struct gp_words how_missing(const struct gp_ranks *ranks)
{
	struct gp_words words = { "" };
	struct missing m = missing_of(ranks);
	char name[NAME_ROOM];

	for (size_t i = 0; i < m.count && i < NAMED; i++)
		gp_say(&words, "%s%s", i ? ", " : "",
		       name_in(&m.series, m.numbers[i], name));
	if (m.count > NAMED)
		gp_say(&words, " and %zu more", m.count - NAMED);
	missing_release(&m);
	return words;
}

/* ---- the head of a report ---- */

void ranks_idle(const struct gp_page *page, const struct gp_ranks *ranks)
{
	struct gp_words words = how_idle(ranks);

	if (*words.text)
		gp_page_field(page, "No requests", "%s", words.text);
}

void ranks_head(const struct gp_page *page, const struct gp_ranks *ranks,
		enum ranks_settings settings)
{
	struct gp_words words;

	if (!ranks)
		return;
	if (ranks->files > 1)
		gp_page_field(page, "Ranks", "%s", how_alike(ranks).text);
	words = how_missing(ranks);
	if (*words.text)
		gp_page_field(page, "Missing", "%s", words.text);
	words = how_unread(ranks);
	if (*words.text)
		gp_page_field(page, "Not read", "%s", words.text);
	ranks_idle(page, ranks);
	words = how_recorded(ranks, settings);
	if (*words.text)
		gp_page_field(page, "Recorded", "%s", words.text);
}

void ranks_side(const struct gp_page *page, const char *label,
		const struct gp_ranks *ranks)
{
	struct gp_words alike = how_alike(ranks), unread = how_unread(ranks);

	if (ranks->files == 1)
		snprintf(alike.text, sizeof(alike.text), "%.*s",
			 GP_WITHIN(200,
				   name_of(ranks, ranks->classes[0].paths[0])));
	gp_page_field(page, label, "%s%s%s", alike.text,
		      *unread.text ? "; not read: " : "", unread.text);
}

void ranks_paragraph(const struct gp_ranks *ranks, const char *path, FILE *out)
{
	char title[RANKS_TITLE];
	struct gp_words words;

	if (!ranks)
		return;
	words = how_alike(ranks);
	fputs("<p class=\"run replaced\">", out);
	gp_xml_text(ranks_title(ranks, path, title), out);
	if (ranks->files > 1) {
		fputs("; ", out);
		gp_xml_text(words.text, out);
	}
	words = how_unread(ranks);
	if (*words.text) {
		fputs("; not read: ", out);
		gp_xml_text(words.text, out);
	}
	fputs("</p>\n", out);
}

/* ---- their results ---- */

/* Kinds of verdicts, the worst first, in the singular and the plural. */
static const struct {
	enum gp_verdict_kind kind;
	const char *one, *several, *brief;
} kinds[] = {
	{ GP_VERDICT_TOO_SMALL, "needs a larger device", "need a larger device",
	  "too small" },
	{ GP_VERDICT_NO_SETTING, "is served by no setting",
	  "are served by no setting", "no setting" },
	{ GP_VERDICT_UNDECIDED, "is undecided", "are undecided", "undecided" },
	{ GP_VERDICT_SETTING, "needs another setting", "need another setting",
	  "setting" },
	{ GP_VERDICT_FITS, "fits", "fit", "fits" },
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* The worst verdict among the class's devices. */
static enum gp_verdict_kind kind_of(const struct gp_ranks *ranks, size_t class,
				    const struct gp_study *study)
{
	const struct gp_rank_class *c = &ranks->classes[class];
	const struct gp_verdict *first = &study->verdicts[c->first_case];

	return c->trace->device_count
		       ? first[gp_verdict_worst(first, c->trace->device_count)]
				 .kind
		       : GP_VERDICT_UNDECIDED;
}

static size_t files_of(const struct gp_ranks *ranks,
		       const struct gp_study *study, enum gp_verdict_kind kind)
{
	size_t files = 0;

	for (size_t i = 0; i < ranks->count; i++)
		if (kind_of(ranks, i, study) == kind)
			files += ranks->classes[i].count;
	return files;
}

static bool is_constrained(const struct gp_study *study)
{
	size_t i = 0;

	while (i < study->case_count && !study->verdicts[i].is_constrained)
		i++;
	return i < study->case_count;
}

static struct gp_words how_judged(const struct gp_ranks *ranks,
				  const struct gp_study *study)
{
	struct gp_words words = { "" };
	size_t all = ranks->files + ranks->unread_count, left = all;

	for (size_t k = 0; k < KINDS; k++) {
		size_t files = files_of(ranks, study, kinds[k].kind);

		if (!files)
			continue;
		if (files == all)
			gp_say(&words, "All %zu ranks", files);
		else if (left == all)
			gp_say(&words, "Of %zu ranks %zu", left, files);
		else
			gp_say(&words, "%s%zu", left == files ? " and " : ", ",
			       files);
		gp_say(&words, " %s%s",
		       files > 1 ? kinds[k].several : kinds[k].one,
		       kinds[k].kind == GP_VERDICT_NO_SETTING &&
				       is_constrained(study)
			       ? " that may be used"
			       : "");
		left -= files;
	}
	if (left)
		gp_say(&words, " and %zu cannot be read", left);
	return words;
}

/* Whether some rank is served only with another setting. */
static bool is_any_served(const struct gp_study *study)
{
	for (size_t i = 0; i < study->case_count; i++)
		if (study->verdicts[i].kind == GP_VERDICT_SETTING)
			return true;
	return false;
}

/* Ranks that were recorded with other settings are judged under the most common
 * ones. */
static void print_otherwise(const struct gp_page *page,
			    const struct gp_ranks *ranks)
{
	size_t files;

	if (count_others(ranks, &files))
		gp_page_line(page, GP_TONE_BAD, 0,
			     "That holds with %s on every rank: %zu of %zu ran "
			     "with other settings, and what they do with those "
			     "is not reported here.",
			     gp_head_settings(ranks->classes->conf), files,
			     ranks->files);
}

void ranks_answer(const struct gp_page *page, const struct gp_ranks *ranks,
		  const struct gp_study *study, size_t first_case)
{
	if (ranks && ranks->files + ranks->unread_count > 1) {
		gp_page_line(page, GP_TONE_PLAIN, 0, "%s.",
			     how_judged(ranks, study).text);
		if (!study->is_change)
			print_otherwise(page, ranks);
	}
	if (study->is_divided)
		gp_page_line(page, GP_TONE_BAD, 0,
			     "No one setting was found that serves them all; "
			     "--format json has one for each.");
	if (!study->is_change || study->verdicts[first_case].conf)
		return;
	gp_page_line(page, GP_TONE_PLAIN, 0, "%s",
		     is_any_served(study)
			     ? "What serves the others that need another "
			       "setting:"
			     : "What lowers the need of the others:");
	gp_page_command(page, "    ",
			verdict_line(study->trials[study->best].conf).text);
}

/* ---- what each needs ---- */

#define NAME 27

static const char *need_text(uint64_t need, char text[GP_BYTES_TEXT])
{
	if (!need)
		return "";
	return need == GP_UNLIMITED ? "none" : gp_bytes_text(need, text);
}

static const char *kind_text(enum gp_verdict_kind kind)
{
	size_t k = 0;

	while (kinds[k].kind != kind)
		k++;
	return kinds[k].brief;
}

static void print_name(const struct gp_page *page, const struct gp_ranks *ranks,
		       size_t index)
{
	const struct gp_rank_class *class =
		&ranks->classes[gp_ranks_class_of(ranks, index)];
	const struct gp_trace *trace = class->trace;
	char name[RANKS_TITLE];

	snprintf(name, sizeof(name), "%.*s",
		 GP_WITHIN(200, name_of(ranks, class->paths[0])));
	if (trace->device_count > 1)
		snprintf(name + strlen(name), sizeof(name) - strlen(name),
			 ", device %u",
			 trace->devices[ranks_device(ranks, index)].device);
	gp_page_cell(page, NAME, name);
	fprintf(page->out, "%6zu", class->count);
}

static void print_row(const struct gp_page *page, const struct gp_ranks *ranks,
		      const struct gp_study *study, size_t index)
{
	const struct gp_verdict *v = &study->verdicts[index];
	char a[GP_BYTES_TEXT], b[GP_BYTES_TEXT];

	print_name(page, ranks, index);
	fprintf(page->out, "%11s%11s", GP_BYTES(v->live),
		need_text(v->need_as_recorded, a));
	if (study->is_change)
		fprintf(page->out, "%11s",
			v->conf ? need_text(v->need, b) : "");
	fprintf(page->out, "  %s\n", kind_text(v->kind));
}

/* Indices of the cases, the worst first; the caller frees the list. */
static size_t *by_need(const struct gp_study *study)
{
	size_t *order = gp_mem_alloc(study->case_count + 1, sizeof(*order));
	struct gp_verdict *left =
		gp_mem_alloc(study->case_count + 1, sizeof(*left));
	size_t count = study->case_count;

	memcpy(left, study->verdicts, count * sizeof(*left));
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		size_t worst = i + gp_verdict_worst(left + i, count - i);
		struct gp_verdict verdict = left[worst];
		size_t index = order[worst];

		/* A stable sort: equal cases keep their order. */
		memmove(left + i + 1, left + i, (worst - i) * sizeof(*left));
		memmove(order + i + 1, order + i, (worst - i) * sizeof(*order));
		left[i] = verdict;
		order[i] = index;
	}
	free(left);
	return order;
}

void ranks_table(const struct gp_page *page, const struct gp_ranks *ranks,
		 const struct gp_study *study)
{
	size_t *order;

	if (!ranks || ranks->count < 2)
		return;
	order = by_need(study);
	gp_page_blank(page);
	fprintf(page->out, "%-*s%6s%11s%11s%s  verdict\n", NAME,
		"Ranks that differ", "files", "live", "need",
		study->is_change ? "  suggested" : "");
	for (size_t i = 0; i < study->case_count && i < ROWS_SHOWN; i++)
		print_row(page, ranks, study, order[i]);
	if (study->case_count > ROWS_SHOWN)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "%zu more: --format json has them all.",
			     study->case_count - ROWS_SHOWN);
	free(order);
}

/* ---- results of replays ---- */

static bool has_addresses(const struct gp_rank_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->runs[i].checked)
			return true;
	return false;
}

static void print_run(const struct gp_page *page,
		      const struct gp_rank_runs *runs, size_t index)
{
	const struct gp_rank_run *run = &runs->runs[index];
	size_t class = gp_ranks_class_of(runs->ranks, index);
	const char *trouble = runs->ranks->classes[class].is_idle
				      ? NULL
				      : runs->troubles[class];
	char same[GP_PERCENT_TEXT];

	print_name(page, runs->ranks, index);
	if (!run->is_there) {
		fprintf(page->out, "  %.45s\n",
			trouble ? trouble : "nothing is requested");
		return;
	}
	fprintf(page->out, "%11s%11s%6" PRIu64 "%9" PRIu64,
		GP_BYTES(run->reserved), GP_BYTES(run->allocated), run->ooms,
		run->retries);
	if (run->checked)
		fprintf(page->out, "%10s",
			gp_percent_text((double)run->matched /
						(double)run->checked,
					same));
	putc('\n', page->out);
}

void ranks_runs(const struct gp_page *page, const struct gp_rank_runs *runs)
{
	size_t worst, first, shown = 0;

	if (!runs || runs->ranks->count < 2)
		return;
	worst = gp_rank_runs_worst(runs);
	first = runs->ranks->classes[worst].first_case;
	gp_page_blank(page);
	fprintf(page->out, "%-*s%6s%11s%11s%6s%9s%s\n", NAME,
		"Ranks that differ", "files", "reserved", "allocated", "OOMs",
		"retries", has_addresses(runs) ? "  fidelity" : "");
	for (size_t d = 0; d < runs->ranks->classes[worst].trace->device_count;
	     d++, shown++)
		print_run(page, runs, first + d);
	for (size_t i = 0; i < runs->count && shown < ROWS_SHOWN; i++)
		if (gp_ranks_class_of(runs->ranks, i) != worst) {
			print_run(page, runs, i);
			shown++;
		}
	if (runs->count > shown)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "%zu more: --format json has them all.",
			     runs->count - shown);
}

/* ---- for a program ---- */

void gp_emit_rank_runs(struct gp_emit *json, const struct gp_rank_runs *runs)
{
	if (!runs)
		return;
	gp_emit_open(json, "rank_devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < runs->count; i++) {
		const struct gp_rank_run *run = &runs->runs[i];
		size_t class = gp_ranks_class_of(runs->ranks, i);

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_rank_of(json, runs->ranks, i);
		gp_emit_uint(
			json, "device",
			runs->ranks->classes[class]
				.trace->devices[ranks_device(runs->ranks, i)]
				.device);
		if (run->is_there) {
			gp_emit_outcome(json, run->reserved, run->retries,
					run->ooms);
			gp_emit_count(json, GP_PEAK_ALLOCATED, run->allocated);
			gp_emit_uint(json, "dropped", run->dropped);
			gp_emit_uint(json, "checked", run->checked);
			gp_emit_uint(json, "matched", run->matched);
		} else {
			gp_emit_text(json, "trouble", runs->troubles[class]);
		}
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void emit_missing(struct gp_emit *json, const struct gp_ranks *ranks)
{
	struct missing m = missing_of(ranks);
	char name[NAME_ROOM];

	gp_emit_open(json, "missing_files", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < m.count; i++)
		gp_emit_text(json, NULL,
			     name_in(&m.series, m.numbers[i], name));
	gp_emit_close(json, ']');
	missing_release(&m);
}

void gp_emit_ranks(struct gp_emit *json, const struct gp_ranks *ranks)
{
	if (!ranks)
		return;
	gp_emit_open(json, "ranks", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "files", ranks->files);
	gp_emit_open(json, "classes", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < ranks->count; i++) {
		const struct gp_rank_class *class = &ranks->classes[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
		gp_emit_open(json, "paths", '[', GP_EMIT_LINES);
		for (size_t k = 0; k < class->count; k++)
			gp_emit_text(json, NULL, class->paths[k]);
		gp_emit_close(json, ']');
		if (class->release)
			gp_emit_release(json, "torch", class->release);
		if (class->conf)
			gp_emit_text(json, "alloc_conf", class->conf);
		if (class->is_idle)
			gp_emit_bool(json, "requests", false);
		gp_emit_open(json, "devices", '[', GP_EMIT_FLAT);
		for (size_t d = 0; d < class->trace->device_count; d++)
			gp_emit_uint(json, NULL,
				     class->trace->devices[d].device);
		gp_emit_close(json, ']');
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_objects(json, "unread", "unread", ranks->unread,
			ranks->unread_count, sizeof(*ranks->unread));
	emit_missing(json, ranks);
	gp_emit_close(json, '}');
}

void gp_emit_rank_of(struct gp_emit *json, const struct gp_ranks *ranks,
		     size_t index)
{
	if (ranks)
		gp_emit_text(json, "trace",
			     ranks->classes[gp_ranks_class_of(ranks, index)]
				     .paths[0]);
}

void gp_emit_rank_verdict(struct gp_emit *json, const struct gp_ranks *ranks,
			  const struct gp_study *study, size_t index)
{
	const struct gp_rank_class *class =
		&ranks->classes[gp_ranks_class_of(ranks, index)];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device",
		     class->trace->devices[ranks_device(ranks, index)].device);
	gp_emit_rank_of(json, ranks, index);
	gp_emit_verdict(json, &study->verdicts[index]);
	gp_emit_close(json, '}');
}

void gp_emit_rank_verdicts(struct gp_emit *json, const struct gp_ranks *ranks,
			   const struct gp_study *study)
{
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < study->case_count; i++)
		gp_emit_rank_verdict(json, ranks, study, i);
	gp_emit_close(json, ']');
}
