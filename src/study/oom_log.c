/* SPDX-License-Identifier: MIT */
/* The message of PyTorch's OutOfMemoryError: reading it, and what it implies.
 */
#include "study/oom_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/text.h"
#include "formats/readers.h"

/* ---- sizes: "0 bytes", "512.00 KiB", "23.69 GiB" (c10, format_size) ---- */

static const struct unit {
	const char *name;
	uint64_t bytes;
} units[] = {
	{ "bytes", 1 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "KB", UINT64_C(1) << 10 }, /* the same, as MPS spelled them */
	{ "MB", UINT64_C(1) << 20 },
	{ "GB", UINT64_C(1) << 30 },
};

/* More than the largest request, 2^60 bytes, and less than what is printed if
 * NVML does not know, 2^64. */
#define MOST_PRINTED 2e18

static struct printed_bytes bytes_at(const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end++ != ' ' || !(number >= 0))
		return (struct printed_bytes){ 0 };
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		const struct unit *u = &units[i];

		if (strncmp(end, u->name, strlen(u->name)) != 0 ||
		    number * (double)u->bytes > MOST_PRINTED)
			continue;
		return (struct printed_bytes){
			.bytes = (uint64_t)(number * (double)u->bytes),
			.error = u->bytes / 200 + (u->bytes > 1),
			.is_there = true,
		};
	}
	return (struct printed_bytes){ 0 };
}

/* The size that follows the phrase. */
static struct printed_bytes bytes_after(const char *text, const char *phrase)
{
	const char *found = strstr(text, phrase);

	return found ? bytes_at(found + strlen(phrase))
		     : (struct printed_bytes){ 0 };
}

/* The size that precedes the phrase: a number, a space and a unit. */
static struct printed_bytes bytes_before(const char *text, const char *phrase)
{
	const char *found = strstr(text, phrase), *at = found;

	for (unsigned spaces = 0; at && at > text; at--) {
		spaces += at[-1] == ' ';
		if (spaces == 2)
			break;
	}
	return found ? bytes_at(at) : (struct printed_bytes){ 0 };
}

static struct printed_bytes sum_of(struct printed_bytes a,
				   struct printed_bytes b)
{
	return (struct printed_bytes){
		.bytes = a.bytes + b.bytes,
		.error = a.error + b.error,
		.is_there = a.is_there && b.is_there,
	};
}

static uint64_t least(struct printed_bytes printed)
{
	return printed.bytes - gp_smaller(printed.bytes, printed.error);
}

static uint64_t most(struct printed_bytes printed)
{
	return printed.bytes + printed.error;
}

/* ---- the message ---- */

struct processes {
	struct printed_bytes sum;
	/* The smallest of those that have at least what PyTorch has
	 * reserved. */
	struct printed_bytes fitting;
};

/* "Process 123 has 4.00 GiB memory in use. ", for each other process. NVML may
 * not know how much one has; PyTorch then prints 2^64 bytes. */
static struct processes other_processes(const char *text, uint64_t reserved)
{
	static const char begin[] = "Process ", middle[] = " has ";
	struct processes p = { 0 };

	while ((text = strstr(text, begin))) {
		char *end;
		struct printed_bytes one;

		text += strlen(begin);
		strtoull(text, &end, 10);
		if (strncmp(end, middle, strlen(middle)) != 0)
			continue;
		one = bytes_at(end + strlen(middle));
		if (!one.is_there)
			continue;
		p.sum.is_there = true;
		p.sum = sum_of(p.sum, one);
		if (most(one) >= reserved &&
		    (!p.fitting.is_there || one.bytes < p.fitting.bytes))
			p.fitting = one;
	}
	return p;
}

/* In a container PyTorch does not recognise its own process, because NVML lists
 * it by its id outside. So if the listed processes have more than the device
 * has besides PyTorch's memory, one of them is this one. */
static void read_processes(const char *text, struct oom_message *m)
{
	static const char own[] = "this process has ";
	struct processes p = other_processes(text, least(m->reserved));
	uint64_t besides =
		most(m->total) -
		gp_smaller(most(m->total), least(m->reserved) + least(m->free));

	m->process = bytes_after(text, own);
	m->others = p.sum;
	if (strstr(text, own) || !p.fitting.is_there || least(p.sum) <= besides)
		return;
	m->process = p.fitting;
	m->others.bytes -= p.fitting.bytes;
	m->others.error -= p.fitting.error;
	m->others.is_there = m->others.bytes > 0;
}

static void parse_sentence_of_device(const char *text, struct oom_message *m)
{
	m->total = bytes_after(text, "has a total capacity of ");
	if (!m->total.is_there) /* as 2.1 spells it */
		m->total = bytes_after(text, "has a total capacty of ");
	m->free = bytes_after(text, " of which ");
}

/* PyTorch 2.1 and later (CUDACachingAllocator.cpp, malloc). */
static bool parse_sentences(const char *text, struct oom_message *m)
{
	struct printed_bytes allocated =
		bytes_after(text, "Of the allocated memory ");

	parse_sentence_of_device(text, m);
	if (!m->free.is_there && m->api == OOM_OF_XPU)
		m->free.error = m->asked.bytes;
	m->limit = bytes_before(text, " allowed; ");
	m->in_pools = bytes_before(text, " allocated in private pools");
	m->unallocated = bytes_before(text, " is reserved by PyTorch but");
	m->reserved = sum_of(allocated, m->unallocated);
	read_processes(text, m);
	/* The hints of 2.15. */
	m->is_expandable = strstr(text, "xpandable-segment reserve of ") ||
			   strstr(text, "expandable_segments is enabled");
	return m->total.is_there && m->reserved.is_there &&
	       (m->free.is_there || m->free.error);
}

/* PyTorch 2.0 and earlier: in parentheses, separated by semicolons. */
static bool parse_list(const char *text, struct oom_message *m)
{
	struct printed_bytes allocated =
		bytes_before(text, " already allocated; ");

	m->total = bytes_before(text, " total capacity; ");
	m->free = bytes_before(text, " free; ");
	m->limit = bytes_before(text, " allowed; ");
	m->reserved = bytes_before(text, " reserved in total");
	if (!m->reserved.is_there) /* PyTorch 1.0 to 1.3 */
		m->reserved = sum_of(allocated, bytes_before(text, " cached)"));
	m->is_old = true;
	m->unallocated = (struct printed_bytes){
		.bytes = m->reserved.bytes -
			 gp_smaller(m->reserved.bytes, allocated.bytes),
		.error = m->reserved.error + allocated.error,
		.is_there = true,
	};
	return m->total.is_there && m->free.is_there && m->reserved.is_there &&
	       allocated.is_there;
}

/* The word before the mark: CUDA unless it is another. */
static enum oom_api api_before(const char *line, const char *mark)
{
	static const char *const names[] = {
		[OOM_OF_HIP] = "HIP ",
		[OOM_OF_XPU] = "XPU ",
	};

	for (size_t i = OOM_OF_HIP; i <= OOM_OF_XPU; i++) {
		size_t length = strlen(names[i]);

		if ((size_t)(mark - line) >= length &&
		    !memcmp(mark - length, names[i], length))
			return (enum oom_api)i;
	}
	return OOM_OF_CUDA;
}

/* The environment variable for settings that the message names. */
static const char *variable_of(const char *text, enum oom_api api)
{
	static const char *const names[] = { "PYTORCH_CUDA_ALLOC_CONF",
					     "PYTORCH_HIP_ALLOC_CONF",
					     "PYTORCH_ALLOC_CONF" };
	static const char *const by_default[] = {
		[OOM_OF_CUDA] = "PYTORCH_CUDA_ALLOC_CONF",
		[OOM_OF_HIP] = "PYTORCH_HIP_ALLOC_CONF",
		[OOM_OF_XPU] = "PYTORCH_ALLOC_CONF",
		[OOM_OF_MPS] = "PYTORCH_MPS_HIGH_WATERMARK_RATIO",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(text, names[i]))
			return names[i];
	return by_default[api];
}

static struct oom_message begin(const char *line, const char *mark)
{
	struct oom_message m = { .api = api_before(line, mark) };

	m.variable = variable_of(mark, m.api);
	return m;
}

/* "GPU 3", directly after the requested size: further on, it may be another
 * line's. */
static void parse_device(const char *size, struct oom_message *m)
{
	static const char *const before[] = { ". GPU ", " (GPU " };
	const char *at = size + strspn(size, "0123456789. ");

	at += strspn(at, "bytesKMGiB");
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		if (strncmp(at, before[i], strlen(before[i])) != 0)
			continue;
		at += strlen(before[i]);
		/* PyTorch 2.3 prints the number itself, as a character. */
		m->has_device = true;
		m->is_named = *at;
		m->device = *at >= 0 && *at < ' '
				    ? (uint32_t)*at
				    : (uint32_t)strtoul(at, NULL, 10);
		return;
	}
}

#define TRIED "out of memory. Tried to allocate "

static bool parse_told(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, TRIED);
	struct oom_message m;

	if (!text)
		return false;
	m = begin(line, text);
	m.asked = bytes_at(text + strlen(TRIED));
	if (!m.asked.is_there)
		return false;
	parse_device(text + strlen(TRIED), &m);
	if (!m.has_device ||
	    (!parse_sentences(text, &m) && !parse_list(text, &m)))
		return false;
	*message = m;
	return true;
}

static bool parse_rejected(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, "out of memory. Allocation was "
					"preemptively rejected");
	struct oom_message m;

	if (!text)
		return false;
	m = begin(line, text);
	m.form = OOM_REJECTED;
	m.asked = bytes_after(text, "Requested size: ");
	if (!m.asked.is_there)
		return false;
	*message = m;
	return true;
}

#define TRIED  "out of memory. Tried to allocate "
#define ABSURD TRIED "more than 1EB memory"

/* Early releases print such a size, too, up to 17179869184.00 GiB. */
static bool is_absurd(const char *text)
{
	const double gib_of_eib = 1 << 30;
	const char *at = text + strlen(TRIED);
	double gib = strtod(at, NULL);

	return !strncmp(text, ABSURD, strlen(ABSURD)) ||
	       (gib >= gib_of_eib && gib <= 16 * gib_of_eib &&
		!strncmp(at + strspn(at, "0123456789."), " GiB", 4));
}

static bool parse_absurd(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, TRIED);

	if (!text || !is_absurd(text))
		return false;
	*message = begin(line, text);
	message->form = OOM_ABSURD;
	return true;
}

#define ON_DEVICE "Allocation on device "

/* The number itself, or as a character. */
static const char *parse_device_of_async(const char *text,
					 struct oom_message *m)
{
	const char *at = text + strlen(ON_DEVICE);
	size_t digits = strspn(at, "0123456789");

	m->is_async = true;
	m->is_named = digits || (*at > 0 && *at < ' ');
	m->has_device = m->is_named;
	m->device = digits	    ? (uint32_t)strtoul(at, NULL, 10)
		    : m->has_device ? (uint32_t)*at
				    : 0;
	return at + digits + (m->has_device && !digits);
}

/* CUDAMallocAsyncAllocator.cpp, mallocAsync. The message does not contain what
 * the driver's pool has cached. */
static bool parse_async(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, ON_DEVICE);
	struct oom_message m;

	if (!text)
		return false;
	m = begin(line, text);
	m.form = OOM_ASYNC;
	parse_device_of_async(text, &m);
	m.reserved = bytes_after(text, "Currently allocated : ");
	m.asked = bytes_after(text, "Requested : ");
	m.total = bytes_after(text, "Device limit : ");
	m.free = bytes_after(text, "Free (according to CUDA): ");
	/* 2^64 - 1 bytes are none. */
	m.limit = bytes_after(text, "memory fraction) : ");
	if (!m.reserved.is_there || !m.asked.is_there || !m.total.is_there ||
	    !m.free.is_there)
		return false;
	*message = m;
	return true;
}

bool oom_log_parse(const char *line, struct oom_message *message)
{
	return parse_told(line, message) || parse_rejected(line, message) ||
	       parse_absurd(line, message) || parse_async(line, message);
}

bool oom_log_is_whole(const char *text)
{
	return strstr(text, " is reserved by PyTorch but unallocated") ||
	       strstr(text, " reserved in total") || strstr(text, " cached)") ||
	       bytes_after(text, "Requested size: ").is_there ||
	       strstr(text, ABSURD) || strstr(text, "memory fraction) : ");
}

/* ---- messages that say little ---- */

/* The requested size, if the message has it. */
static bool parse_cut(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, TRIED);
	struct oom_message m;

	if (!text)
		return false;
	m = begin(line, text);
	m.form = OOM_CUT;
	m.asked = bytes_at(text + strlen(TRIED));
	if (!m.asked.is_there)
		return false;
	parse_device(text + strlen(TRIED), &m);
	parse_sentence_of_device(text, &m);
	if (!m.total.is_there)
		m.total = bytes_before(text, " total capacity; ");
	*message = m;
	return true;
}

/* Messages of cudaMallocAsync: PyTorch prints the device's number as a
 * character; for device 0 this is a zero byte, which ends the message. */
static bool parse_async_cut(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, ON_DEVICE), *at;
	struct oom_message m;

	if (!text)
		return false;
	m = begin(line, text);
	m.form = OOM_CUT;
	at = parse_device_of_async(text, &m);
	at += strspn(at, " ");
	if (*at && strncmp(at, "would exceed", 12) != 0)
		return false;
	*message = m;
	return true;
}

static bool parse_mps(const char *line, struct oom_message *message)
{
	const char *text = strstr(line, "MPS backend out of memory");

	if (!text)
		return false;
	*message = begin(line, text);
	message->form = OOM_MPS;
	message->api = OOM_OF_MPS;
	message->asked = bytes_after(text, "Tried to allocate ");
	return true;
}

/* CUDA, unless the words are those of another API. */
static enum oom_api api_of_driver(const char *found)
{
	return !strncmp(found, "HIP ", 4)    ? OOM_OF_HIP
	       : strstr(found, "DEVICE_MEM") ? OOM_OF_XPU
					     : OOM_OF_CUDA;
}

static bool parse_elsewhere(const char *found, enum oom_form form,
			    struct oom_message *message)
{
	*message = (struct oom_message){ .form = form };
	if (form == OOM_DRIVER)
		message->api = api_of_driver(found);
	message->variable = variable_of("", message->api);
	return true;
}

bool oom_log_parse_brief(const char *line, struct oom_message *message)
{
	const struct gp_oom_mark *mark = NULL;
	const char *found = gp_oom_mark_in(line, strlen(line), &mark);

	if (!found)
		return false;
	switch (mark->teller) {
	case GP_OOM_OF_ALLOCATOR: return parse_cut(line, message);
	case GP_OOM_OF_ASYNC: return parse_async_cut(line, message);
	case GP_OOM_OF_MPS: return parse_mps(line, message);
	case GP_OOM_OF_DRIVER:
		return parse_elsewhere(found, OOM_DRIVER, message);
	case GP_OOM_OF_HOST: break;
	}
	return parse_elsewhere(found, OOM_HOST, message);
}

/* ---- what it implies ---- */

/* Allocations up to 1 MiB are served from segments of 2 MiB, those below 10 MiB
 * from segments of 20 MiB or more, and the size of larger ones is rounded up to
 * 2 MiB (kSmallBuffer, kLargeBuffer, kRoundLarge). So the request may have been
 * that small. */
static uint64_t least_request(struct printed_bytes asked)
{
	const uint64_t mib = UINT64_C(1) << 20;

	if (asked.bytes <= 2 * mib)
		return 1;
	if (asked.bytes <= 20 * mib)
		return mib;
	return least(asked) - 2 * mib;
}

/* The most bytes of a device that a context and libraries take. */
#define OWN_OVERHEAD (UINT64_C(1) << 30)

/* The margin in bytes: smaller differences do not decide, as in the choice
 * between settings. */
static uint64_t least_gain(const struct oom_conclusion *c)
{
	return gp_larger(UINT64_C(64) << 20, c->available / 100);
}

static uint64_t spilled(const struct oom_message *m)
{
	return m->total.is_there && least(m->reserved) > most(m->total)
		       ? m->reserved.bytes - m->total.bytes
		       : 0;
}

/* Bytes of the device that PyTorch has reserved, or that are free. */
static uint64_t held_or_free(const struct oom_message *m)
{
	return spilled(m) ? m->total.bytes : m->reserved.bytes + m->free.bytes;
}

static uint64_t kept_by_limit(const struct oom_message *m,
			      const struct oom_conclusion *c)
{
	return held_or_free(m) - gp_smaller(held_or_free(m), c->available);
}

/* Bytes in use beyond what one process takes besides PyTorch, if NVML names no
 * process. */
static uint64_t kept_unseen(const struct oom_message *m,
			    const struct oom_conclusion *c)
{
	return m->others.is_there || m->process.is_there
		       ? 0
		       : c->unseen - gp_smaller(c->unseen, OWN_OVERHEAD);
}

/* What the process could have had, besides what is available. */
static uint64_t withheld(const struct oom_message *m,
			 const struct oom_conclusion *c)
{
	uint64_t bytes = m->limit.is_there
				 ? kept_by_limit(m, c)
				 : m->others.bytes + kept_unseen(m, c);

	return bytes >= least_gain(c) ? bytes : 0;
}

/* The cause if all free memory together cannot serve the request, or hardly
 * can: what else would have made room for it. */
static enum oom_cause cause_of_lack(const struct oom_message *m,
				    const struct oom_conclusion *c)
{
	uint64_t more = c->missing + least_gain(c);

	if (kept_by_limit(m, c) >= more)
		return OOM_BY_LIMIT;
	if (m->others.bytes >= more)
		return OOM_BY_OTHERS;
	if (kept_unseen(m, c) >= more)
		return OOM_BY_UNSEEN;
	return c->missing ? OOM_BY_CAPACITY : OOM_BY_FULLNESS;
}

/* The least that tensors and the request need together: printed sizes are off
 * by up to their error. */
static uint64_t least_needed(const struct oom_message *m)
{
	uint64_t cached = most(m->unallocated) + most(m->in_pools);

	return least(m->reserved) - gp_smaller(least(m->reserved), cached) +
	       least_request(m->asked);
}

/* The most that PyTorch could have had. */
static uint64_t most_room(const struct oom_message *m)
{
	uint64_t room =
		spilled(m) ? most(m->total) : most(m->reserved) + most(m->free);

	return m->limit.is_there ? gp_smaller(room, most(m->limit)) : room;
}

static uint64_t error_of_idle(const struct oom_message *m)
{
	return m->unallocated.error + m->free.error + m->limit.error;
}

/* What the message says by itself, without numbers. */
static enum oom_cause cause_by_form(enum oom_form form)
{
	static const enum oom_cause causes[] = {
		[OOM_REJECTED] = OOM_BY_REJECTION, [OOM_ABSURD] = OOM_BY_SIZE,
		[OOM_CUT] = OOM_BY_UNKNOWN,	   [OOM_MPS] = OOM_BY_LIMIT,
		[OOM_DRIVER] = OOM_BY_DRIVER,	   [OOM_HOST] = OOM_BY_HOST,
	};

	return causes[form];
}

/* With cudaMallocAsync memory that is neither free nor in tensors may be
 * cached, or another's. */
static enum oom_cause cause_of_async(const struct oom_message *m,
				     const struct oom_conclusion *c)
{
	if (m->limit.is_there && c->needed > m->limit.bytes)
		return OOM_BY_LIMIT;
	if (c->needed > m->total.bytes)
		return OOM_BY_CAPACITY;
	return OOM_BY_UNSEEN;
}

/* Whether there was enough free memory after all: PyTorch reads the free memory
 * after the device refused the request. */
static bool was_free(const struct oom_message *m)
{
	return !m->limit.is_there && m->free.is_there &&
	       least(m->free) >= most(m->asked);
}

static enum oom_cause cause_by_numbers(const struct oom_message *m,
				       const struct oom_conclusion *c)
{
	if (was_free(m))
		return OOM_BY_MOMENT;
	if (c->missing || c->left < least_gain(c))
		return cause_of_lack(m, c);
	if (m->in_pools.is_there &&
	    least_request(m->asked) > c->idle + error_of_idle(m))
		return OOM_BY_POOLS;
	return OOM_BY_PLACEMENT;
}

struct oom_conclusion oom_log_conclude(const struct oom_message *m)
{
	struct oom_conclusion c = { 0 };
	uint64_t cached = m->unallocated.bytes + m->in_pools.bytes;
	uint64_t held = held_or_free(m);

	if (m->form != OOM_TOLD && m->form != OOM_ASYNC) {
		c.cause = cause_by_form(m->form);
		return c;
	}
	c.allocated = m->reserved.bytes - gp_smaller(m->reserved.bytes, cached);
	c.needed = c.allocated + m->asked.bytes;
	c.available =
		m->limit.is_there ? gp_smaller(held, m->limit.bytes) : held;
	c.left = c.available - gp_smaller(c.available, c.needed);
	c.idle = c.available -
		 gp_smaller(c.available, c.allocated + m->in_pools.bytes);
	c.unseen = m->total.bytes - gp_smaller(m->total.bytes, held);
	/* An amount within the rounding of the printed sizes counts as none. */
	if (c.unseen <= m->total.error + m->reserved.error + m->free.error)
		c.unseen = 0;
	c.spilled = spilled(m);
	if (m->form == OOM_ASYNC) {
		c.cause = cause_of_async(m, &c);
		c.missing = c.cause == OOM_BY_CAPACITY
				    ? c.needed - m->total.bytes
				    : 0;
		return c;
	}
	c.own = gp_smaller(c.unseen,
			   m->process.bytes - gp_smaller(m->process.bytes,
							 m->reserved.bytes));
	c.withheld = withheld(m, &c);
	if (least_needed(m) > most_room(m))
		c.missing = c.needed - gp_smaller(c.needed, c.available);
	c.cause = cause_by_numbers(m, &c);
	return c;
}

/* ---- of several logs ---- */

int oom_log_silence(const struct oom_message *m)
{
	return m->form < OOM_CUT ? 0 : (int)m->form;
}

/* Whether two times have the same format, so that the order of their texts is
 * the order of the times. */
static bool is_comparable(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (gp_is_digit(*a) ? !gp_is_digit(*b) : *a != *b)
			return false;
	return !*a && !*b;
}

size_t oom_logs_first(const struct oom_logged *logs, size_t count,
		      bool *is_by_time)
{
	size_t first = 0;

	*is_by_time = *logs->message.time;
	for (size_t i = 1; i < count; i++)
		*is_by_time &=
			is_comparable(logs->message.time, logs[i].message.time);
	for (size_t i = 1; i < count; i++) {
		const struct oom_message *a = &logs[i].message;
		const struct oom_message *b = &logs[first].message;

		if (*is_by_time ? strcmp(a->time, b->time) < 0
				: oom_log_silence(a) < oom_log_silence(b))
			first = i;
	}
	return first;
}
