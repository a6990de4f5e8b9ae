/* SPDX-License-Identifier: MIT */
/* What a library's bytes require of CUDA: for a library that is whole, and for
 * damaged ones. */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"
#include "suite.h"

/* The smallest possible library: the headers of its sections, then their
 * bytes. */
struct library {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3]; /* names, symbols, dynamic */
	Elf64_Sym symbols[4];
	Elf64_Dyn dynamic[4];
	char names[256];
};

static uint32_t add_name(struct library *library, const char *name)
{
	Elf64_Shdr *names = &library->sections[0];
	uint32_t at = (uint32_t)names->sh_size;

	memcpy(library->names + at, name, strlen(name) + 1);
	names->sh_size += strlen(name) + 1;
	return at;
}

static void add_symbol(struct library *library, const char *name, uint16_t in)
{
	Elf64_Shdr *symbols = &library->sections[1];
	size_t i = symbols->sh_size / sizeof(Elf64_Sym);

	library->symbols[i].st_name = add_name(library, name);
	library->symbols[i].st_shndx = in;
	symbols->sh_size += sizeof(Elf64_Sym);
}

static void add_needed(struct library *library, const char *soname)
{
	Elf64_Shdr *dynamic = &library->sections[2];
	size_t i = dynamic->sh_size / sizeof(Elf64_Dyn);

	library->dynamic[i].d_tag = DT_NEEDED;
	library->dynamic[i].d_un.d_val = add_name(library, soname);
	dynamic->sh_size += sizeof(Elf64_Dyn);
}

static struct library whole(void)
{
	struct library l = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
					 ELFCLASS64, ELFDATA2LSB },
			    .e_shoff = offsetof(struct library, sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3 },
		.sections = { { .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct library, names) },
			      { .sh_type = SHT_DYNSYM,
				.sh_offset =
					offsetof(struct library, symbols) },
			      { .sh_type = SHT_DYNAMIC,
				.sh_offset =
					offsetof(struct library, dynamic) } },
	};

	add_name(&l, "");
	add_symbol(&l, "cudaMalloc", SHN_UNDEF);
	add_symbol(&l, "cudaOwn", 1);
	add_symbol(&l, "curl_easy_init", SHN_UNDEF);
	add_needed(&l, "libcudart.so.13");
	add_needed(&l, "libc.so.6");
	return l;
}

/* What is found, as "cudaMalloc libcudart.so.13". */
static const char *scan(const void *bytes, size_t size)
{
	static char text[1024];
	struct gp_wants wants = { 0 };
	size_t used = 0;

	*text = 0;
	gp_wants_scan(&wants, bytes, size);
	for (size_t i = 0; i < wants.symbol_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s ", wants.symbols[i]);
	for (size_t i = 0; i < wants.soname_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s ", wants.sonames[i]);
	gp_wants_release(&wants);
	return text;
}

static const char *scan_library(const struct library *library)
{
	return scan(library, sizeof(*library));
}

START_TEST(test_what_is_undefined_and_of_cuda_is_wanted)
{
	struct library l = whole();

	ck_assert_str_eq(scan_library(&l), "cudaMalloc libcudart.so.13 ");
}
END_TEST

START_TEST(test_a_file_that_is_not_a_library_wants_nothing)
{
	struct library l = whole();

	ck_assert_str_eq(scan("", 0), "");
	ck_assert_str_eq(scan("#!/bin/sh\n", 10), "");
	l.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_str_eq(scan_library(&l), "");
	l = whole();
	l.header.e_shentsize = 40;
	ck_assert_str_eq(scan_library(&l), "");
}
END_TEST

/* Copied into a heap block of exactly that size, so that a sanitizer sees reads
 * beyond it; also to an odd address. */
START_TEST(test_a_library_that_is_cut_off_is_read_to_its_end)
{
	struct library l = whole();

	for (size_t size = 0; size <= sizeof(l); size++) {
		char *copy = malloc(size + 1);

		memcpy(copy + 1, &l, size);
		scan(copy + 1, size);
		free(copy);
	}
}
END_TEST

START_TEST(test_tables_outside_of_the_file_are_not_read)
{
	static const uint64_t wrong[] = { sizeof(struct library) + 1,
					  UINT64_MAX, UINT64_MAX - 7,
					  INT64_MAX };

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct library l = whole();

		l.header.e_shoff = wrong[i];
		ck_assert_str_eq(scan_library(&l), "");
		for (size_t s = 0; s < 3; s++) {
			l = whole();
			l.sections[s].sh_offset = wrong[i];
			scan_library(&l);
			l = whole();
			l.sections[s].sh_size = wrong[i];
			scan_library(&l);
			l = whole();
			l.sections[s].sh_link = (uint32_t)wrong[i];
			scan_library(&l);
		}
	}
}
END_TEST

START_TEST(test_names_that_do_not_end_are_not_read)
{
	struct library l = whole();

	l.symbols[0].st_name = sizeof(l.names) - 4;
	memcpy(l.names + sizeof(l.names) - 4, "cuda", 4);
	l.sections[0].sh_size = sizeof(l.names);
	ck_assert_str_eq(scan_library(&l), "libcudart.so.13 ");
	l.symbols[0].st_name = UINT32_MAX;
	ck_assert_str_eq(scan_library(&l), "libcudart.so.13 ");
}
END_TEST

static void write_library(const char *path, const char *symbol)
{
	struct library l = whole();
	FILE *file = fopen(path, "w");

	add_symbol(&l, symbol, SHN_UNDEF);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(&l, sizeof(l), 1, file), 1);
	fclose(file);
}

/* What a package's libraries require and PyTorch's do not; CUDA's own wheels,
 * and PyTorch, which is read separately, are left out. */
START_TEST(test_packages_beside_pytorch_are_read)
{
	char folder[] = "/tmp/wants.XXXXXX", path[128];
	static const char *const places[] = { "bnb", "bnb/lib", "nvidia",
					      "torch" };
	static const char *const symbols[] = { "cudaFirst", "cublasHgemm",
					       "cublasOwn", "cudaOther" };
	struct gp_wants wants = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, places[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/%s/libx.so", folder,
			 places[i]);
		write_library(path, symbols[i]);
	}
	gp_wants_read_packages(&wants, folder);
	ck_assert_uint_eq(wants.symbol_count, 3);
	ck_assert_str_eq(wants.symbols[0], "cublasHgemm");
	ck_assert_str_eq(wants.symbols[1], "cudaFirst");
	ck_assert_str_eq(wants.symbols[2], "cudaMalloc");
	ck_assert_uint_eq(wants.soname_count, 1);
	gp_wants_release(&wants);
	for (size_t i = COUNT_OF(places); i--;) {
		snprintf(path, sizeof(path), "%s/%s/libx.so", folder,
			 places[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", folder, places[i]);
		rmdir(path);
	}
	rmdir(folder);
}
END_TEST

/* The names become file names, and parts of LD_PRELOAD. */
START_TEST(test_names_with_a_path_or_a_space_are_not_taken)
{
	static const char *const names[] = { "libcudart/../../x.so.13",
					     "libcudart:x.so.13",
					     "libcudart x.so.13" };

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct library l = whole();

		l.dynamic[0].d_un.d_val = add_name(&l, names[i]);
		ck_assert_str_eq(scan_library(&l), "cudaMalloc ");
	}
}
END_TEST

START_TEST(test_a_folder_without_cuda_is_told)
{
	struct gp_wants wants;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_wants_read(&wants, "/no/such/folder", &diag),
			 GP_SYSTEM);
	gp_wants_release(&wants);
	ck_assert_int_eq(gp_wants_read(&wants, "include/gpupool", &diag),
			 GP_SYSTEM);
	ck_assert_str_eq(diag.what, "this PyTorch was built without CUDA");
	gp_wants_release(&wants);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_is_undefined_and_of_cuda_is_wanted, 0 },
		{ test_a_file_that_is_not_a_library_wants_nothing, 0 },
		{ test_a_library_that_is_cut_off_is_read_to_its_end, 0 },
		{ test_tables_outside_of_the_file_are_not_read, 0 },
		{ test_names_that_do_not_end_are_not_read, 0 },
		{ test_packages_beside_pytorch_are_read, 0 },
		{ test_names_with_a_path_or_a_space_are_not_taken, 0 },
		{ test_a_folder_without_cuda_is_told, 0 },
	};

	return suite_run("wants", tests, COUNT_OF(tests));
}
