/* SPDX-License-Identifier: MIT */
/* Finds the one trace in a zip file by the directory at its end. */
#include "formats/zip.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"

/* Sizes of the fixed parts of records, and the offsets of their fields. */
enum {
	END = 22,	     /* the end of the directory */
	END_COMMENT = 65535, /* the longest */
	END_COUNT = 10,
	END_AT = 16,

	END64_LOCATOR = 20,
	END64_LOCATOR_AT = 8,
	END64 = 56,
	END64_COUNT = 32,
	END64_AT = 48,

	ENTRY = 46,
	ENTRY_FLAGS = 8,
	ENTRY_METHOD = 10,
	ENTRY_PACKED = 20,
	ENTRY_SIZE = 24,
	ENTRY_NAME = 28,
	ENTRY_EXTRA = 30,
	ENTRY_COMMENT = 32,
	ENTRY_AT = 42,

	LOCAL = 30,
	LOCAL_NAME = 26,
	LOCAL_EXTRA = 28,

	EXTRA_ZIP64 = 1,
};

enum { STORED, DEFLATED = 8 };
#define ENCRYPTED 1
#define IN_ZIP64  0xffffffffu

static uint64_t number(const unsigned char *at, size_t bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static bool is_record(const unsigned char *at, const char *kind)
{
	return at[0] == 'P' && at[1] == 'K' && at[2] == kind[0] &&
	       at[3] == kind[1];
}

bool gp_zip_is(const unsigned char *head, size_t n)
{
	return n >= 4 && is_record(head, "\3\4");
}

static bool read_at(const struct gp_zip_file *zip, uint64_t at, void *to,
		    size_t n)
{
	return n <= zip->size && at <= zip->size - n &&
	       zip->read(zip->arg, at, to, n);
}

/* ---- the directory ---- */

struct directory {
	uint64_t at, count;
};

/* Finds the zip64 directory: of a zip file of 4 GiB or more, or of more files
 * than 16 bits can count. */
static bool find_directory64(const struct gp_zip_file *zip, uint64_t end,
			     struct directory *directory)
{
	unsigned char locator[END64_LOCATOR], record[END64];

	if (end < END64_LOCATOR ||
	    !read_at(zip, end - END64_LOCATOR, locator, sizeof(locator)) ||
	    !is_record(locator, "\6\7") ||
	    !read_at(zip, number(locator + END64_LOCATOR_AT, 8), record,
		     sizeof(record)) ||
	    !is_record(record, "\6\6"))
		return false;
	*directory = (struct directory){
		.at = number(record + END64_AT, 8),
		.count = number(record + END64_COUNT, 8),
	};
	return true;
}

/* The last record of that kind; NULL: there is none. */
static const unsigned char *find_end(const unsigned char *tail, size_t n)
{
	for (size_t left = n < END ? 0 : n - END + 1; left; left--)
		if (is_record(tail + left - 1, "\5\6"))
			return tail + left - 1;
	return NULL;
}

/* The directory's end is at the end of the file, before a comment. */
static bool find_directory(const struct gp_zip_file *zip,
			   struct directory *directory)
{
	size_t n = (size_t)gp_smaller(zip->size, END + END_COMMENT);
	unsigned char *tail = gp_mem_alloc(n + 1, 1);
	const unsigned char *end = NULL;
	bool is_found;

	if (read_at(zip, zip->size - n, tail, n))
		end = find_end(tail, n);
	is_found = end != NULL;
	if (end) {
		*directory = (struct directory){
			.at = number(end + END_AT, 4),
			.count = number(end + END_COUNT, 2),
		};
		if (directory->at == IN_ZIP64 || directory->count == 0xffff)
			is_found = find_directory64(
				zip, zip->size - n + (uint64_t)(end - tail),
				directory);
	}
	free(tail);
	return is_found;
}

/* ---- its entries ---- */

struct found {
	unsigned char entry[ENTRY];
	unsigned char name[256]; /* its last bytes */
	size_t name_length;	 /* of these */
	uint64_t extra_at;
	size_t extra_length;
};

static bool ends_with(const struct found *f, const char *text)
{
	size_t n = strlen(text);

	return f->name_length >= n &&
	       !memcmp(f->name + f->name_length - n, text, n);
}

/* Whether it is something that archivers add. */
static bool is_beside(const struct found *f)
{
	return ends_with(f, "/") || ends_with(f, "/.DS_Store") ||
	       (f->name_length >= 9 && !memcmp(f->name, "__MACOSX/", 9));
}

/* torch.save() writes an object, with its tensors beside it. */
static bool is_object(const struct found *f)
{
	return ends_with(f, "/data.pkl");
}

static bool is_tensor(const struct found *f)
{
	static const char folder[] = "/data/";

	return memmem(f->name, f->name_length, folder, sizeof(folder) - 1);
}

static bool read_entry(const struct gp_zip_file *zip, uint64_t *at,
		       struct found *f)
{
	size_t name, dropped;

	if (!read_at(zip, *at, f->entry, ENTRY) || !is_record(f->entry, "\1\2"))
		return false;
	name = (size_t)number(f->entry + ENTRY_NAME, 2);
	dropped = name > sizeof(f->name) ? name - sizeof(f->name) : 0;
	f->name_length = name - dropped;
	if (!read_at(zip, *at + ENTRY + dropped, f->name, f->name_length))
		return false;
	f->extra_at = *at + ENTRY + name;
	f->extra_length = (size_t)number(f->entry + ENTRY_EXTRA, 2);
	*at = f->extra_at + f->extra_length +
	      number(f->entry + ENTRY_COMMENT, 2);
	return true;
}

/* The number of entries of each kind. */
struct census {
	uint64_t files, objects, tensors;
};

/* A trace must be the only file, or an object without tensors. */
static enum gp_status judge(const struct census *c, struct gp_diag *diag)
{
	if (c->objects == 1 && c->tensors) {
		gp_diag_hint(diag, "torch.cuda.memory._dump_snapshot("
				   "\"file.pickle\") writes a memory snapshot");
		return gp_diag_foreign(diag, "it is a checkpoint that "
					     "torch.save wrote, not a trace");
	}
	if (c->objects == 1 || c->files == 1)
		return GP_OK;
	gp_diag_hint(diag, "unzip it, and give the trace or the folder in it");
	return gp_diag_foreign(diag, c->files ? "it is a zip file of several "
						"files, and not of one trace"
					      : "it is a zip file without a "
						"file");
}

static enum gp_status choose(const struct gp_zip_file *zip,
			     const struct directory *directory,
			     struct found *chosen, struct gp_diag *diag)
{
	struct census census = { 0 };
	uint64_t at = directory->at;
	struct found f;

	for (uint64_t i = 0; i < directory->count; i++) {
		if (!read_entry(zip, &at, &f))
			return gp_diag_set(diag, GP_INPUT,
					   "the zip file's directory is "
					   "damaged");
		if (is_beside(&f))
			continue;
		if (!census.files || is_object(&f))
			*chosen = f;
		census.files++;
		census.objects += is_object(&f);
		census.tensors += is_tensor(&f);
	}
	return judge(&census, diag);
}

/* ---- where an entry's bytes are ---- */

/* The value of a 32-bit field, or of the 64-bit one in the extra data that
 * replaces it. Those are only there for fields that do not fit, in the order of
 * size, packed size and offset. */
static uint64_t wide(const unsigned char *field, const unsigned char **next,
		     const unsigned char *end)
{
	uint64_t value = number(field, 4);

	if (value != IN_ZIP64 || end - *next < 8)
		return value;
	*next += 8;
	return number(*next - 8, 8);
}

/* The zip64 part of the extra data, which ends at *end. NULL: there is none. */
static const unsigned char *find_zip64(const unsigned char *extra,
				       size_t length, const unsigned char **end)
{
	const unsigned char *at = extra, *last = extra + length;

	while (last - at >= 4) {
		size_t n = (size_t)number(at + 2, 2);

		if (n > (size_t)(last - at) - 4)
			break;
		*end = at + 4 + n;
		if (number(at, 2) == EXTRA_ZIP64)
			return at + 4;
		at = *end;
	}
	*end = last;
	return NULL;
}

static bool locate(const struct gp_zip_file *zip, const struct found *f,
		   struct gp_zip_entry *entry)
{
	unsigned char *extra = gp_mem_alloc(f->extra_length + 1, 1);
	const unsigned char *next = NULL, *end = NULL;
	unsigned char local[LOCAL];
	uint64_t at;
	bool is_read = read_at(zip, f->extra_at, extra, f->extra_length);

	if (is_read)
		next = find_zip64(extra, f->extra_length, &end);
	next = next ? next : end;
	if (is_read) {
		wide(f->entry + ENTRY_SIZE, &next, end);
		entry->length = wide(f->entry + ENTRY_PACKED, &next, end);
		at = wide(f->entry + ENTRY_AT, &next, end);
		is_read = read_at(zip, at, local, sizeof(local)) &&
			  is_record(local, "\3\4");
	}
	free(extra);
	if (!is_read)
		return false;
	entry->at = at + LOCAL + number(local + LOCAL_NAME, 2) +
		    number(local + LOCAL_EXTRA, 2);
	return entry->at <= zip->size && entry->length <= zip->size - entry->at;
}

enum gp_status gp_zip_find(const struct gp_zip_file *zip,
			   struct gp_zip_entry *entry, struct gp_diag *diag)
{
	struct directory directory;
	struct found f = { 0 };
	enum gp_status status;
	uint64_t method;

	if (!find_directory(zip, &directory)) {
		gp_diag_hint(diag, "was it copied while it was being written? "
				   "\"unzip -t\" checks a whole file");
		return gp_diag_set(diag, GP_INPUT, "the zip file ends early");
	}
	status = choose(zip, &directory, &f, diag);
	if (status != GP_OK)
		return status;
	method = number(f.entry + ENTRY_METHOD, 2);
	if (number(f.entry + ENTRY_FLAGS, 2) & ENCRYPTED ||
	    (method != STORED && method != DEFLATED)) {
		gp_diag_hint(diag, "unzip it, and give what is in it");
		return gp_diag_set(diag, GP_INPUT,
				   "the file in the zip file is encrypted, or "
				   "compressed by another method than deflate");
	}
	entry->is_deflated = method == DEFLATED;
	return locate(zip, &f, entry)
		       ? GP_OK
		       : gp_diag_set(diag, GP_INPUT,
				     "the zip file's directory is damaged");
}
