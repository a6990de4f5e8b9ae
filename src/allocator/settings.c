/*
 * PYTORCH_CUDA_ALLOC_CONF, parsed as each release parses it:
 * CUDAAllocatorConfig::parseArgs up to 2.9, AcceleratorAllocatorConfig and
 * ConfigTokenizer from 2.10.
 */
#include "gpupool/knob.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "base/mem.h"

#define MIB		      (UINT64_C(1) << 20)
#define DEFAULT_LARGE_SEGMENT (20 * MIB)
#define MAX_MIB		      (UINT64_MAX / MIB)

struct token {
	const char *at;
	size_t length;
};

struct parser {
	struct token *tokens;
	size_t count, at; /* at: the next one */
	struct gp_settings settings;
	struct gp_diag *diag;
};

void gp_settings_init(struct gp_settings *settings, uint8_t release)
{
	*settings = (struct gp_settings){
		.release = release,
		.max_split_size = GP_UNLIMITED,
		.max_non_split_rounding = DEFAULT_LARGE_SEGMENT,
		.large_segment_size = DEFAULT_LARGE_SEGMENT,
		.memory_fraction = 1.0,
	};
}

/* ---- tokens ---- */

static bool is_separator(char c)
{
	return c == ',' || c == ':' || c == '[' || c == ']';
}

static bool is_dropped(const struct parser *p, char c)
{
	return c == ' ' ||
	       (gp_release_has(p->settings.release, GP_CHANGE_LENIENT_PARSER) &&
		isspace((unsigned char)c));
}

/* Copies conf without the spaces into text; the tokens point there. */
static void tokenize(struct parser *p, const char *conf, char *text)
{
	bool is_open = false; /* the last token still grows */

	for (; *conf; conf++) {
		if (is_dropped(p, *conf))
			continue;
		*text = *conf;
		if (is_separator(*conf) || !is_open)
			p->tokens[p->count++] = (struct token){ text, 1 };
		else
			p->tokens[p->count - 1].length++;
		is_open = !is_separator(*conf);
		text++;
	}
}

static bool token_is(const struct token *token, const char *text)
{
	return token->length == strlen(text) &&
	       !memcmp(token->at, text, token->length);
}

static bool is_strict(const struct parser *p)
{
	return !gp_release_has(p->settings.release, GP_CHANGE_LENIENT_PARSER);
}

static enum gp_status expected(struct parser *p, const char *separator)
{
	return gp_diag_set(p->diag, GP_INPUT,
			   "Error parsing CachingAllocator settings, expected "
			   "%s",
			   separator);
}

/* Passes a separator; later releases do not look at what they pass. */
static enum gp_status pass(struct parser *p, const char *separator)
{
	if (p->at >= p->count) {
		if (is_strict(p))
			return expected(p, separator);
		return gp_diag_set(p->diag, GP_INPUT,
				   "Index out of bounds in ConfigTokenizer");
	}
	if (is_strict(p) && !token_is(&p->tokens[p->at], separator))
		return expected(p, separator);
	p->at++;
	return GP_OK;
}

/* The value behind "key:". */
static enum gp_status take_value(struct parser *p, const struct gp_knob *knob,
				 const struct token **value)
{
	enum gp_status status = pass(p, ":");

	if (status != GP_OK)
		return status;
	if (p->at >= p->count)
		return is_strict(p) ? gp_diag_set(p->diag, GP_INPUT,
						  "Error, expecting %s value",
						  knob->name)
				    : gp_diag_set(p->diag, GP_INPUT,
						  "Index out of bounds in "
						  "ConfigTokenizer");
	*value = &p->tokens[p->at++];
	return GP_OK;
}

/* ---- values; like C++'s stoull and stod, leading digits count ---- */

static enum gp_status to_integer(struct parser *p, const struct token *token,
				 uint64_t *value)
{
	char text[32];
	size_t n = token->length < sizeof(text) - 1 ? token->length
						    : sizeof(text) - 1;
	char *end;
	uint64_t parsed;

	memcpy(text, token->at, n);
	text[n] = 0;
	errno = 0;
	parsed = strtoull(text, &end, 10);
	if (end == text || errno)
		return gp_diag_set(p->diag, GP_INPUT, "%s: \"%s\" is no number",
				   is_strict(p) ? "stoi" : "stoull", text);
	*value = parsed;
	return GP_OK;
}

static enum gp_status to_real(struct parser *p, const struct token *token,
			      double *value)
{
	char text[64];
	size_t n = token->length < sizeof(text) - 1 ? token->length
						    : sizeof(text) - 1;
	char *end;
	double parsed;

	memcpy(text, token->at, n);
	text[n] = 0;
	parsed = strtod(text, &end);
	if (end == text || !isfinite(parsed))
		return gp_diag_set(p->diag, GP_INPUT,
				   "stod: \"%s\" is no number", text);
	*value = parsed;
	return GP_OK;
}

static enum gp_status to_bool(struct parser *p, const struct gp_knob *knob,
			      const struct token *token, bool *value)
{
	bool is_true = token_is(token, "True");

	if (!is_true && !token_is(token, "False")) {
		if (is_strict(p))
			return gp_diag_set(p->diag, GP_INPUT,
					   "Expected a single True/False "
					   "argument for %s",
					   knob->name);
		return gp_diag_set(p->diag, GP_INPUT,
				   "Expected 'True' or 'False' at index %zu "
				   "in ConfigTokenizer but got '%.*s'",
				   p->at - 1, (int)token->length, token->at);
	}
	*value = is_true;
	return GP_OK;
}

/* ---- roundup_power2_divisions ---- */

static bool is_power_of_two(uint64_t x)
{
	return x && !(x & (x - 1));
}

static unsigned interval_of(uint64_t mib)
{
	unsigned log2 = 63 - (unsigned)__builtin_clzll(mib);

	return log2 < GP_DIVISIONS ? log2 : GP_DIVISIONS - 1;
}

static void fill(uint32_t *divisions, unsigned from, uint64_t value)
{
	for (unsigned i = from; i < GP_DIVISIONS; i++)
		divisions[i] = (uint32_t)value;
}

static enum gp_status check_divisions(struct parser *p, uint64_t value)
{
	bool zero = gp_release_has(p->settings.release, GP_CHANGE_DIVISION_ONE);

	if (is_power_of_two(value) || (zero && !value))
		return value <= UINT32_MAX
			       ? GP_OK
			       : gp_diag_set(p->diag, GP_INPUT,
					     "For roundups, %llu "
					     "divisions are too "
					     "many",
					     (unsigned long long)value);
	return gp_diag_set(p->diag, GP_INPUT,
			   "For roundups, the divisions has to be power of 2%s",
			   zero ? " or 0 to disable roundup" : "");
}

/* One pair of a list; last is the interval named before, or -1. */
static enum gp_status parse_pair(struct parser *p, int *last)
{
	const struct token *key = &p->tokens[p->at++];
	bool behind = gp_release_has(p->settings.release, GP_CHANGE_LIST_FILL);
	uint32_t *divisions = p->settings.divisions;
	enum gp_status status = pass(p, ":");
	uint64_t mib = 1, value;

	if (status == GP_OK && p->at >= p->count)
		status = gp_diag_set(p->diag, GP_INPUT,
				     "Expected closing bracket ']' in "
				     "ConfigTokenizer but reached end of "
				     "config");
	if (status == GP_OK)
		status = to_integer(p, &p->tokens[p->at++], &value);
	if (status == GP_OK)
		status = check_divisions(p, value);
	if (status != GP_OK)
		return status;
	if (token_is(key, ">")) {
		int from = behind ? *last + 1 : *last;

		if (*last < 0)
			from = behind ? 1 : 0;
		fill(divisions, (unsigned)from, value);
		return GP_OK;
	}
	status = to_integer(p, key, &mib);
	if (status != GP_OK)
		return status;
	if (!is_power_of_two(mib))
		return gp_diag_set(p->diag, GP_INPUT,
				   "For roundups, the intervals have to be "
				   "power of 2");
	/* The first pair also serves all sizes below; one between two named
	 * ones is nobody's and stays as it was. */
	if (*last < 0)
		for (unsigned i = 0; i < interval_of(mib); i++)
			divisions[i] = (uint32_t)value;
	*last = (int)interval_of(mib);
	divisions[*last] = (uint32_t)value;
	return GP_OK;
}

static enum gp_status parse_divisions(struct parser *p,
				      const struct gp_knob *knob)
{
	const struct token *token = NULL;
	enum gp_status status = take_value(p, knob, &token);
	uint64_t value = 0;
	int last = -1;

	if (status != GP_OK)
		return status;
	if (!token_is(token, "[")) {
		status = to_integer(p, token, &value);
		if (status == GP_OK && !is_power_of_two(value))
			status = gp_diag_set(p->diag, GP_INPUT,
					     "For roundups, the divisions has "
					     "to be power of 2");
		if (status == GP_OK)
			status = check_divisions(p, value);
		if (status == GP_OK)
			fill(p->settings.divisions, 0, value);
		return status;
	}
	while (status == GP_OK && p->at < p->count &&
	       !token_is(&p->tokens[p->at], "]")) {
		status = parse_pair(p, &last);
		if (status == GP_OK && p->at < p->count &&
		    token_is(&p->tokens[p->at], ","))
			p->at++;
	}
	if (status == GP_OK && p->at++ >= p->count)
		status = gp_diag_set(p->diag, GP_INPUT,
				     "Expected closing bracket ']' in "
				     "ConfigTokenizer but reached end of "
				     "config");
	return status;
}

/* ---- one setting each ---- */

static enum gp_status parse_max_split(struct parser *p, uint64_t mib)
{
	uint64_t large = p->settings.large_segment_size / MIB;
	bool may_equal = gp_release_has(p->settings.release,
					GP_CHANGE_SPLIT_FROM_SEGMENT);

	if (may_equal ? mib < large : mib <= large)
		return gp_diag_set(p->diag, GP_INPUT,
				   "CachingAllocator option max_split_size_mb "
				   "too small, must be %s %llu",
				   may_equal ? ">=" : ">",
				   (unsigned long long)large);
	p->settings.max_split_size = (mib < MAX_MIB ? mib : MAX_MIB) * MIB;
	return GP_OK;
}

static enum gp_status parse_rounding(struct parser *p, uint64_t mib)
{
	uint64_t large = p->settings.large_segment_size / MIB;
	bool may_equal = gp_release_has(p->settings.release,
					GP_CHANGE_SPLIT_FROM_SEGMENT);

	if (may_equal ? mib < large : mib <= large)
		return gp_diag_set(p->diag, GP_INPUT,
				   "CachingAllocator option "
				   "max_non_split_rounding_mb too small, must "
				   "be %s %llu",
				   may_equal ? ">=" : ">",
				   (unsigned long long)large);
	p->settings.max_non_split_rounding =
		(mib < MAX_MIB ? mib : MAX_MIB) * MIB;
	return GP_OK;
}

static enum gp_status parse_large_segment(struct parser *p, uint64_t mib)
{
	if (mib <= 10 || mib > MAX_MIB / 2)
		return gp_diag_set(p->diag, GP_INPUT,
				   "CachingAllocator option "
				   "large_segment_size_mb must be > 10 MB");
	p->settings.large_segment_size = mib * MIB;
	return GP_OK;
}

static enum gp_status parse_threshold(struct parser *p, double ratio)
{
	if (!(ratio > 0 && ratio < 1)) {
		if (!is_strict(p))
			return gp_diag_set(p->diag, GP_INPUT,
					   "garbage_collect_threshold is "
					   "invalid, set it in (0.0, 1.0)");
		return gp_diag_set(
			p->diag, GP_INPUT,
			ratio > 0 ? "garbage_collect_threshold too big, "
				    "set it 0.0~1.0"
				  : "garbage_collect_threshold too "
				    "small, set it 0.0~1.0");
	}
	p->settings.gc_threshold = ratio;
	return GP_OK;
}

static enum gp_status parse_fraction(struct parser *p, double ratio)
{
	if (!(ratio >= 0 && ratio <= 1))
		return gp_diag_set(p->diag, GP_INPUT,
				   "per_process_memory_fraction is invalid, "
				   "set it in [0.0, 1.0]");
	p->settings.memory_fraction = ratio;
	return GP_OK;
}

/* "40G" is GiB, "0.5" a share of the device; PyTorch ignores what is wrong. */
static void parse_reserve(struct parser *p, const struct token *token)
{
	struct gp_diag ignored;
	double value = 0;
	char unit = token->at[token->length - 1];

	if (to_real(&(struct parser){ .diag = &ignored }, token, &value) !=
		    GP_OK ||
	    value <= 0)
		return;
	p->settings.reserve_bytes = 0;
	p->settings.reserve_fraction = 0;
	if (unit != 'G' && unit != 'g')
		p->settings.reserve_fraction = value;
	else if (value < 1e9)
		p->settings.reserve_bytes =
			(uint64_t)(value * 1024 * (double)MIB);
}

static enum gp_status parse_backend(struct parser *p, const struct token *token)
{
	if (token_is(token, "native"))
		return GP_OK;
	if (token_is(token, "cudaMallocAsync")) {
		gp_diag_hint(p->diag, "its placement is the driver's; there "
				      "is nothing here to replay it with");
		return gp_diag_set(p->diag, GP_INPUT,
				   "backend:cudaMallocAsync cannot be "
				   "replayed");
	}
	return gp_diag_set(p->diag, GP_INPUT,
			   "Unknown allocator backend, options are native and "
			   "cudaMallocAsync");
}

/* Values of settings that decide nothing here: one token, or a list. */
static enum gp_status skip_value(struct parser *p, const struct gp_knob *knob)
{
	const struct token *token;
	enum gp_status status = take_value(p, knob, &token);

	if (status == GP_OK && token_is(token, "["))
		while (p->at < p->count && !token_is(&p->tokens[p->at++], "]"))
			;
	return status;
}

static enum gp_status parse_number(struct parser *p, const struct gp_knob *knob,
				   const struct token *token)
{
	uint64_t mib = 0;
	enum gp_status status = to_integer(p, token, &mib);

	if (status != GP_OK)
		return status;
	if (knob->id == GP_KNOB_MAX_SPLIT)
		return parse_max_split(p, mib);
	if (knob->id == GP_KNOB_LARGE_SEGMENT)
		return parse_large_segment(p, mib);
	return parse_rounding(p, mib);
}

static enum gp_status parse_ratio(struct parser *p, const struct gp_knob *knob,
				  const struct token *token)
{
	double ratio = 0;
	enum gp_status status = to_real(p, token, &ratio);

	if (status != GP_OK)
		return status;
	return knob->id == GP_KNOB_GC_THRESHOLD ? parse_threshold(p, ratio)
						: parse_fraction(p, ratio);
}

static enum gp_status parse_knob(struct parser *p, const struct gp_knob *knob)
{
	const struct token *token = NULL;
	enum gp_status status;

	if (knob->id == GP_KNOB_IGNORED)
		return skip_value(p, knob);
	if (knob->id == GP_KNOB_ROUNDUP)
		return parse_divisions(p, knob);
	status = take_value(p, knob, &token);
	if (status != GP_OK)
		return status;
	switch (knob->id) {
	case GP_KNOB_EXPANDABLE:
		return to_bool(p, knob, token,
			       &p->settings.expandable_segments);
	case GP_KNOB_THROW_ON_OOM:
		return to_bool(p, knob, token, &p->settings.throw_on_oom);
	case GP_KNOB_RESERVE: parse_reserve(p, token); return GP_OK;
	case GP_KNOB_BACKEND: return parse_backend(p, token);
	case GP_KNOB_GC_THRESHOLD:
	case GP_KNOB_FRACTION: return parse_ratio(p, knob, token);
	default: return parse_number(p, knob, token);
	}
}

/* ---- the whole string ---- */

static const struct gp_knob *knob_of(const struct token *key)
{
	size_t count;
	const struct gp_knob *table = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (token_is(key, table[i].name))
			return &table[i];
	return NULL;
}

static enum gp_status unknown_key(struct parser *p, const struct token *key,
				  const struct gp_knob *knob)
{
	if (knob)
		gp_diag_hint(p->diag,
			     "%s exists from PyTorch 2.%d on; this is 2.%d "
			     "(--torch chooses another)",
			     knob->name, knob->since, p->settings.release);
	else
		gp_diag_hint(p->diag, "gpupool-settings(7) lists them");
	return gp_diag_set(
		p->diag, GP_INPUT,
		is_strict(p) ? "Unrecognized CachingAllocator option: "
			       "%.*s"
			     : "Unrecognized key '%.*s' in CUDA allocator "
			       "config.",
		(int)key->length, key->at);
}

/* large_segment_size_mb is read before everything else. */
static enum gp_status parse_segment_first(struct parser *p)
{
	const struct gp_knob *knob;
	enum gp_status status = GP_OK;
	size_t i;

	for (i = 0; i < p->count && status == GP_OK; i++) {
		knob = knob_of(&p->tokens[i]);
		if (!knob || knob->id != GP_KNOB_LARGE_SEGMENT ||
		    p->settings.release < knob->since)
			continue;
		p->at = i + 1;
		status = parse_knob(p, knob);
	}
	p->at = 0;
	if (gp_release_has(p->settings.release, GP_CHANGE_ROUNDING_RESET))
		p->settings.max_non_split_rounding =
			p->settings.large_segment_size;
	return status;
}

static enum gp_status parse_pairs(struct parser *p)
{
	enum gp_status status = parse_segment_first(p);
	const struct gp_knob *knob;
	const struct token *key;

	while (status == GP_OK && p->at < p->count) {
		key = &p->tokens[p->at++];
		knob = knob_of(key);
		if (!knob || p->settings.release < knob->since)
			return unknown_key(p, key, knob);
		status = parse_knob(p, knob);
		if (status == GP_OK && p->at < p->count)
			status = pass(p, ",");
	}
	return status;
}

enum gp_status gp_settings_parse(struct gp_settings *settings, const char *conf,
				 struct gp_diag *diag)
{
	size_t length = strlen(conf);
	char *text = gp_mem_alloc(length + 1, 1);
	struct parser p = {
		.tokens = gp_mem_alloc(length + 1, sizeof(*p.tokens)),
		.settings = *settings,
		.diag = diag,
	};
	enum gp_status status;

	p.settings.max_split_size = GP_UNLIMITED;
	p.settings.gc_threshold = 0;
	memset(p.settings.divisions, 0, sizeof(p.settings.divisions));
	tokenize(&p, conf, text);
	status = parse_pairs(&p);
	if (status == GP_OK)
		*settings = p.settings;
	free(p.tokens);
	free(text);
	return status;
}

enum gp_status gp_release_parse(const char *text, uint8_t *minor,
				struct gp_diag *diag)
{
	unsigned long value;
	char *end;

	if (!strcmp(text, "latest")) {
		*minor = GP_RELEASE_LAST;
		return GP_OK;
	}
	if (!strncmp(text, "2.", 2) && isdigit((unsigned char)text[2])) {
		value = strtoul(text + 2, &end, 10);
		if (value <= GP_RELEASE_LAST &&
		    (!*end || *end == '.' || *end == '+' || *end == 'a')) {
			*minor = (uint8_t)value;
			return GP_OK;
		}
	}
	gp_diag_hint(diag, "2.%d to 2.%d, or latest", GP_RELEASE_FIRST,
		     GP_RELEASE_LAST);
	return gp_diag_set(diag, GP_USAGE,
			   "\"%s\" is no PyTorch release that "
			   "gpupool knows",
			   text);
}
