/* SPDX-License-Identifier: MIT */
/* Limits: "+2%", "+64MiB", "72GiB", "100%", "0". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "report/gate/gate.h"

/* Digits with at most one point; the rest goes to *end. */
static bool parse_decimal(const char *text, double *value, const char **end)
{
	size_t length = strspn(text, "0123456789.");
	char *stop;

	*value = strtod(text, &stop);
	*end = text + length;
	return length && stop == *end && isfinite(*value);
}

static bool is_whole(double value)
{
	return value >= 0 && value < 9007199254740992.0 &&
	       value == floor(value);
}

static bool parse_bytes(const char *text, int64_t *amount)
{
	uint64_t bytes;

	if (!gp_bytes_parse(text, &bytes) || bytes > INT64_MAX)
		return false;
	*amount = (int64_t)bytes;
	return true;
}

static bool parse_count(const char *text, int64_t *amount)
{
	double value;
	const char *end;

	if (!parse_decimal(text, &value, &end) || *end || !is_whole(value))
		return false;
	*amount = (int64_t)value;
	return true;
}

/* 0.25, 25%, 25 points. */
static bool parse_ratio(const char *text, int64_t *amount)
{
	double value;
	const char *end;

	if (!parse_decimal(text, &value, &end))
		return false;
	end += strspn(end, " ");
	if (!strcmp(end, "%") || !strcmp(end, "points"))
		value /= 100;
	else if (*end)
		return false;
	if (value > 1)
		return false;
	*amount = (int64_t)round(value * GP_NUMBER_MILLION);
	return true;
}

static bool parse_amount(const struct gp_number *number, const char *text,
			 int64_t *amount)
{
	switch ((enum gp_number_unit)number->unit) {
	case GP_NUMBER_BYTES: return parse_bytes(text, amount);
	case GP_NUMBER_COUNT: return parse_count(text, amount);
	case GP_NUMBER_RATIO: return parse_ratio(text, amount);
	}
	return false;
}

static bool parse_share(const char *text, double *percent)
{
	const char *end;

	if (!parse_decimal(text, percent, &end))
		return false;
	end += strspn(end, " ");
	return !strcmp(end, "%");
}

static enum gp_status refuse(const struct gp_number *number, const char *text,
			     struct gp_diag *diag)
{
	static const char *const examples[] = {
		[GP_NUMBER_BYTES] = "\"+2%\", \"+64MiB\", \"72GiB\"",
		[GP_NUMBER_COUNT] = "0, \"+3\", \"+10%\"",
		[GP_NUMBER_RATIO] = "\"10%\", \"+2 points\", \"+5%\"",
	};

	gp_diag_hint(diag,
		     number->more_is_better
			     ? "for example: \"100%%\", \"-1 points\""
			     : "for example: %s; null for no limit",
		     examples[number->unit]);
	return gp_diag_set(diag, GP_INPUT, "\"%.32s\" is not a limit for %s",
			   text, number->name);
}

static enum gp_status refuse_sign(const struct gp_number *number,
				  struct gp_diag *diag)
{
	gp_diag_hint(diag, "a limit says how much worse than the baseline it "
			   "may be");
	return gp_diag_set(diag, GP_INPUT,
			   "a limit for %s begins with %c: %s is better",
			   number->name, number->more_is_better ? '-' : '+',
			   number->more_is_better ? "more" : "less");
}

enum gp_status gp_limit_parse(struct gp_limit *limit,
			      const struct gp_number *number, const char *text,
			      struct gp_diag *diag)
{
	bool is_relative = *text == '+' || *text == '-';
	const char *rest = text + is_relative;
	struct gp_limit made = { .number = limit->number };

	if (strlen(text) >= sizeof(made.text))
		return refuse(number, text, diag);
	if (is_relative && parse_share(rest, &made.share) && made.share <= 1e6)
		made.kind = GP_LIMIT_SHARE;
	else if (parse_amount(number, rest, &made.amount))
		made.kind = is_relative ? GP_LIMIT_BY : GP_LIMIT_VALUE;
	else
		return refuse(number, text, diag);
	if (is_relative && (*text == '-') != number->more_is_better)
		return refuse_sign(number, diag);
	snprintf(made.text, sizeof(made.text), "%s", text);
	*limit = made;
	return GP_OK;
}

static int64_t saturate(double value)
{
	if (value >= 9.2e18)
		return INT64_MAX;
	return (int64_t)value;
}

int64_t gp_limit_bound(const struct gp_limit *limit,
		       const struct gp_number *number, int64_t baseline)
{
	int64_t by = limit->amount, base = baseline > 0 ? baseline : 0;

	if (limit->kind == GP_LIMIT_VALUE)
		return limit->amount;
	if (limit->kind == GP_LIMIT_SHARE)
		by = saturate((double)base * limit->share / 100);
	if (number->more_is_better)
		return by > base ? 0 : base - by;
	return by > INT64_MAX - base ? INT64_MAX : base + by;
}
