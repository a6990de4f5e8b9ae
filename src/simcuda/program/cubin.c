/* SPDX-License-Identifier: MIT */
/*
 * A cubin is an ELF file.  Its section .nv.info has attributes of its kernels,
 * by the numbers of their symbols; what they are called is from cuobjdump -elf
 * of the CUDA Toolkit 12.9, and cuobjdump -res-usage gives the same numbers.
 *
 * It is read by hand, not with libelf: this library is loaded into other
 * people's programs, and brings along nothing that they might have too.
 */
#include "simcuda/program/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct cubin {
	const char *bytes;
	Elf64_Ehdr header;
	Elf64_Shdr symbols, names, info;
};

/* Like the driver, this is not told how large the image is and believes the
 * program. */
static Elf64_Shdr section_at(const struct cubin *cubin, size_t index)
{
	Elf64_Shdr section;

	memcpy(&section,
	       cubin->bytes + cubin->header.e_shoff + index * sizeof(section),
	       sizeof(section));
	return section;
}

static bool open_cubin(struct cubin *cubin, const char *image)
{
	const Elf64_Ehdr *header = &cubin->header;
	Elf64_Shdr names;

	*cubin = (struct cubin){ .bytes = image };
	/* Text may be shorter than a header. */
	if (strncmp(image, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&cubin->header, image, sizeof(*header));
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shentsize != sizeof(names))
		return false;
	names = section_at(cubin, header->e_shstrndx);
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr s = section_at(cubin, i);

		if (s.sh_type == SHT_SYMTAB) {
			cubin->symbols = s;
			cubin->names = section_at(cubin, s.sh_link);
		}
		if (!strcmp(image + names.sh_offset + s.sh_name, ".nv.info"))
			cubin->info = s;
	}
	return cubin->symbols.sh_size && cubin->info.sh_size;
}

static const char *name_of(const struct cubin *cubin, uint32_t symbol)
{
	Elf64_Sym s;

	if (symbol >= cubin->symbols.sh_size / sizeof(s))
		return NULL;
	memcpy(&s, cubin->bytes + cubin->symbols.sh_offset + symbol * sizeof(s),
	       sizeof(s));
	return s.st_name < cubin->names.sh_size
		       ? cubin->bytes + cubin->names.sh_offset + s.st_name
		       : NULL;
}

/* One of .nv.info, as it is where it has a size: the others take 4 bytes. */
struct attribute {
	uint8_t form, what;
	uint16_t size;
	uint32_t symbol, number;
};

#define FORM_SIZED 4
#define REGISTERS  0x2f /* EIATTR_REGCOUNT */
#define FRAME	   0x11 /* EIATTR_FRAME_SIZE */

static void take(const struct cubin *cubin, const struct attribute *a,
		 struct kernel **kernels)
{
	const char *name = name_of(cubin, a->symbol);

	if (name && a->what == REGISTERS)
		cubin_kernel(kernels, name)->registers = (int)a->number;
	else if (name && a->what == FRAME)
		cubin_kernel(kernels, name)->local_bytes = (int)a->number;
}

void cubin_read(const void *image, struct kernel **kernels)
{
	const char *at;
	struct cubin cubin;
	struct attribute a;
	size_t left;

	if (!open_cubin(&cubin, image))
		return;
	at = cubin.bytes + cubin.info.sh_offset;
	left = cubin.info.sh_size;
	while (left >= sizeof(a)) {
		size_t size = 4;

		memcpy(&a, at, sizeof(a));
		if (a.form == FORM_SIZED) {
			size += a.size;
			take(&cubin, &a, kernels);
		}
		if (size > left)
			break;
		at += size;
		left -= size;
	}
}

struct kernel *cubin_kernel(struct kernel **kernels, const char *name)
{
	struct kernel *kernel = *kernels;

	while (kernel && strcmp(kernel->name, name) != 0)
		kernel = kernel->next;
	if (kernel)
		return kernel;
	kernel = gp_mem_alloc(1, sizeof(*kernel));
	*kernel = (struct kernel){
		.name = gp_mem_copy_text(name, strlen(name)),
		.registers = KERNEL_REGISTERS,
		.next = *kernels,
	};
	*kernels = kernel;
	return kernel;
}

void cubin_forget(struct kernel **kernels)
{
	while (*kernels) {
		struct kernel *kernel = *kernels;

		*kernels = kernel->next;
		free(kernel->name);
		free(kernel);
	}
}
