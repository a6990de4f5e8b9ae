/* SPDX-License-Identifier: MIT */
/* Libraries written by simcuda: the system's loader accepts them, and each
 * symbol resolves to the stand-in of that name. */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record.h"
#include "suite.h"

typedef uint64_t (*function)(void **first);

static void **told_first;
static const char *told_name;

/* In place of simcuda, this program exports its symbols. */
uint64_t simcuda_stand_in(void **first, const char *name);
uint64_t simcuda_stand_in(void **first, const char *name)
{
	told_first = first;
	told_name = name;
	return 42;
}

static char folder[] = "/tmp/gpupool-object-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void *written(const struct gp_object *object)
{
	struct gp_diag diag = { 0 };
	const char *path = path_of(object->soname);
	void *lib;

	ck_assert_int_eq(gp_object_write(object, path, &diag), GP_OK);
	lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	ck_assert_msg(lib, "%s", dlerror());
	unlink(path);
	return lib;
}

static void must_lead(void *lib, const char *name)
{
	void *here;
	void *symbol = dlsym(lib, name);
	function call;

	ck_assert_msg(symbol, "%s", name);
	memcpy(&call, &symbol, sizeof(call));
	ck_assert_uint_eq(call(&here), 42);
	ck_assert_ptr_eq(told_first, &here);
	ck_assert_str_eq(told_name, name);
}

START_TEST(test_each_symbol_calls_the_stand_in_with_its_name)
{
	char text[][16] = { "cublasCreate_v2", "a", "cudnnCreate" };
	char *names[] = { text[0], text[1], text[2] };
	const struct gp_object object = {
		.soname = "libthree.so.1",
		.symbols = names,
		.symbol_count = COUNT_OF(names),
	};
	void *lib = written(&object);

	for (size_t i = 0; i < COUNT_OF(names); i++)
		must_lead(lib, names[i]);
	ck_assert_ptr_null(dlsym(lib, "cublasDestroy_v2"));
}
END_TEST

START_TEST(test_many_symbols_are_found)
{
	enum { MANY = 5000 };
	static char text[MANY][24], *names[MANY];
	const struct gp_object object = {
		.soname = "libmany.so",
		.symbols = names,
		.symbol_count = MANY,
	};
	void *lib;

	for (size_t i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "cudaMany%zu", i * i);
		names[i] = text[i];
	}
	lib = written(&object);
	for (size_t i = 0; i < MANY; i++)
		must_lead(lib, names[i]);
}
END_TEST

/* dlsym() on an empty library finds the symbols of the libraries that it
 * needs. */
START_TEST(test_an_empty_library_leads_to_what_it_needs)
{
	static const char *const needed[] = { "liball.so.1" };
	char name[] = "ncclCommInitRank", *names[] = { name };
	const struct gp_object all = { .soname = needed[0],
				       .symbols = names,
				       .symbol_count = 1 };
	const struct gp_object empty = { .soname = "libnccl.so.2",
					 .needed = needed,
					 .needed_count = 1 };

	written(&all);
	must_lead(written(&empty), names[0]);
}
END_TEST

/* Linkers of binutils 2.42 and later refuse a library without sections; Triton
 * links its launchers with such a libcuda. */
START_TEST(test_linkers_find_the_symbols)
{
	char name[] = "cuInit", *names[] = { name };
	const struct gp_object object = { .soname = "libcuda.so.1",
					  .symbols = names,
					  .symbol_count = 1 };
	struct gp_diag diag = { 0 };
	const char *path = path_of(object.soname);
	char bytes[16384];
	Elf64_Ehdr header;
	Elf64_Shdr section = { 0 };
	Elf64_Sym symbol;
	size_t size;
	FILE *file;

	ck_assert_int_eq(gp_object_write(&object, path, &diag), GP_OK);
	file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	unlink(path);
	memcpy(&header, bytes, sizeof(header));
	ck_assert_uint_eq(header.e_shoff + header.e_shnum * sizeof(section),
			  size);
	for (size_t i = 0; i < header.e_shnum; i++) {
		memcpy(&section, bytes + header.e_shoff + i * sizeof(section),
		       sizeof(section));
		if (section.sh_type == SHT_DYNSYM)
			break;
	}
	ck_assert_uint_eq(section.sh_type, SHT_DYNSYM);
	memcpy(&symbol,
	       bytes + section.sh_offset + section.sh_size - sizeof(symbol),
	       sizeof(symbol));
	memcpy(&section,
	       bytes + header.e_shoff + section.sh_link * sizeof(section),
	       sizeof(section));
	ck_assert_str_eq(bytes + section.sh_offset + symbol.st_name, name);
}
END_TEST

START_TEST(test_a_folder_that_is_not_there_is_told)
{
	const struct gp_object object = { .soname = "libx.so" };
	struct gp_diag diag = { 0 };

	ck_assert_int_ne(gp_object_write(&object, path_of("no/x"), &diag),
			 GP_OK);
	ck_assert(diag.what[0]);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_each_symbol_calls_the_stand_in_with_its_name, 0 },
		{ test_many_symbols_are_found, 0 },
		{ test_an_empty_library_leads_to_what_it_needs, 0 },
		{ test_linkers_find_the_symbols, 0 },
		{ test_a_folder_that_is_not_there_is_told, 0 },
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = suite_run("object", tests, COUNT_OF(tests));
	rmdir(folder);
	return failed;
}
