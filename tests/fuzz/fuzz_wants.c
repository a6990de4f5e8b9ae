/* SPDX-License-Identifier: MIT */
/*
 * Any bytes taken as a library: the names found in them can be file names.
 */
#include <string.h>

#include "fuzz/target.h"
#include "record/record.h"

static void check(char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		must(strlen(names[i]) < 200, "a name is long");
		must(!strpbrk(names[i], "/: \n"), "a name is a path");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_wants wants = { 0 };

	gp_wants_scan(&wants, data, size);
	check(wants.symbols, wants.symbol_count);
	check(wants.sonames, wants.soname_count);
	gp_wants_release(&wants);
	return 0;
}
