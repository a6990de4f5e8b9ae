/* SPDX-License-Identifier: MIT */
/* What a cubin says about its kernels is taken from .nv.info; about data that
 * is no cubin, nothing is known. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simcuda/program/cubin.h"
#include "suite.h"

/* Attributes as ptxas writes them: a format and a number, followed, in format
 * 4, by a size, the kernel's symbol and a value. */
#define OF(number) (0x00080004u | (uint32_t)(number) << 8)

static const uint32_t info[] = {
	OF(0x2f),   1, 40,  /* registers of the first */
	OF(0x11),   1, 16,  /* its frame */
	0x00003501,	    /* one of 4 bytes */
	OF(0x12),   1, 99,  /* the least stack: not asked for */
	OF(0x2f),   2, 255, /* registers of the second */
	OF(0x2f),   7, 3,   /* a symbol that is not there */
};

static const char names[] = "\0.nv.info\0softmax\0scale";
#define SECTION_NAME 1
#define FIRST	     10
#define SECOND	     18

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4]; /* none, .nv.info, symbols, names */
	Elf64_Sym symbols[3];
	uint32_t info[sizeof(info) / sizeof(*info)];
	char names[sizeof(names)];
};

static struct image made(void)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
				     ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_shoff = offsetof(struct image, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
			.e_shstrndx = 3,
		},
		.sections = {
			[1] = { .sh_name = SECTION_NAME,
				.sh_offset = offsetof(struct image, info),
				.sh_size = sizeof(info) },
			[2] = { .sh_type = SHT_SYMTAB,
				.sh_offset = offsetof(struct image, symbols),
				.sh_size = 3 * sizeof(Elf64_Sym),
				.sh_link = 3 },
			[3] = { .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct image, names),
				.sh_size = sizeof(names) },
		},
		.symbols = { [1] = { .st_name = FIRST },
			     [2] = { .st_name = SECOND } },
	};

	memcpy(image.info, info, sizeof(info));
	memcpy(image.names, names, sizeof(names));
	return image;
}

START_TEST(test_registers_and_frames_are_read)
{
	const struct image image = made();
	struct kernel *kernels = NULL;

	cubin_read(&image, &kernels);
	ck_assert_int_eq(cubin_kernel(&kernels, "softmax")->registers, 40);
	ck_assert_int_eq(cubin_kernel(&kernels, "softmax")->local_bytes, 16);
	ck_assert_int_eq(cubin_kernel(&kernels, "scale")->registers, 255);
	ck_assert_int_eq(cubin_kernel(&kernels, "scale")->local_bytes, 0);
	cubin_forget(&kernels);
	ck_assert_ptr_null(kernels);
}
END_TEST

START_TEST(test_a_kernel_keeps_its_handle)
{
	struct kernel *kernels = NULL, *first = cubin_kernel(&kernels, "a");

	cubin_kernel(&kernels, "b");
	ck_assert_ptr_eq(cubin_kernel(&kernels, "a"), first);
	ck_assert_int_eq(first->registers, KERNEL_REGISTERS);
	cubin_forget(&kernels);
}
END_TEST

START_TEST(test_other_images_tell_nothing)
{
	static const char *const others[] = { "", "\x7f", ".version 8.0" };
	struct image narrow = made(), bare = made();
	struct kernel *kernels = NULL;

	for (size_t i = 0; i < COUNT_OF(others); i++)
		cubin_read(others[i], &kernels);
	narrow.header.e_ident[EI_CLASS] = ELFCLASS32;
	cubin_read(&narrow, &kernels);
	bare.header.e_shnum = 1;
	cubin_read(&bare, &kernels);
	ck_assert_ptr_null(kernels);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_registers_and_frames_are_read, 0 },
		{ test_a_kernel_keeps_its_handle, 0 },
		{ test_other_images_tell_nothing, 0 },
	};

	return suite_run("cubin", tests, COUNT_OF(tests));
}
