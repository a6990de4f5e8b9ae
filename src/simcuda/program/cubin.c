/* SPDX-License-Identifier: MIT */
/*
 * A cubin is an ELF file. Its .nv.info sections hold attributes of kernels,
 * identified by symbol numbers. The attributes' names are those printed by
 * cuobjdump -elf of CUDA Toolkit 12.9; cuobjdump -res-usage prints the same
 * numbers.
 *
 * It is parsed by hand, not with libelf: this library is loaded into other
 * people's programs and must not bring a library that they may have too.
 */
#include "simcuda/program/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct cubin {
	const char *bytes;
	Elf64_Ehdr header;
	Elf64_Shdr symbols, names, sections, info;
};

/* Like the driver, this is not given the size of the image and trusts the
 * program. */
static Elf64_Shdr section_at(const struct cubin *cubin, size_t index)
{
	Elf64_Shdr section;

	memcpy(&section,
	       cubin->bytes + cubin->header.e_shoff + index * sizeof(section),
	       sizeof(section));
	return section;
}

#define INFO ".nv.info"

static const char *section_name(const struct cubin *cubin, const Elf64_Shdr *s)
{
	return cubin->bytes + cubin->sections.sh_offset + s->sh_name;
}

static bool open_cubin(struct cubin *cubin, const char *image)
{
	const Elf64_Ehdr *header = &cubin->header;

	*cubin = (struct cubin){ .bytes = image };
	/* PTX text may be shorter than an ELF header. */
	if (strncmp(image, ELFMAG, SELFMAG) != 0)
		return false;
	memcpy(&cubin->header, image, sizeof(*header));
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shentsize != sizeof(cubin->sections))
		return false;
	cubin->sections = section_at(cubin, header->e_shstrndx);
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr s = section_at(cubin, i);

		if (s.sh_type == SHT_SYMTAB) {
			cubin->symbols = s;
			cubin->names = section_at(cubin, s.sh_link);
		}
		if (!strcmp(section_name(cubin, &s), INFO))
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

/* An attribute of .nv.info, in the form that has a size; the other forms take 4
 * bytes. */
struct attribute {
	uint8_t form, what;
	uint16_t size;
	uint32_t symbol, number;
};

#define FORM_SIZED 4
#define REGISTERS  0x2f /* EIATTR_REGCOUNT */
#define FRAME	   0x11 /* EIATTR_FRAME_SIZE */
#define PARAMETER  0x17 /* EIATTR_KPARAM_INFO: in a kernel's own section */

/* The fields after the parameter's number in the cubin: its ordinal, offset and
 * size. */
struct parameter {
	uint16_t ordinal, offset;
	uint32_t flags; /* the size in bytes is above bit 18 */
};

static void take_parameter(const char *at, struct kernel *kernel)
{
	struct parameter p;
	uint32_t size;

	memcpy(&p, at, sizeof(p));
	size = p.flags >> 18;
	if (p.ordinal >= MOST_PARAMETERS || size > sizeof(uint64_t)) {
		kernel->has_odd_parameters = true;
		return;
	}
	if (size == sizeof(uint64_t))
		kernel->wide |= UINT64_C(1) << p.ordinal;
	if (p.ordinal >= kernel->parameters)
		kernel->parameters = p.ordinal + 1;
}

static void take(const struct cubin *cubin, const struct attribute *a,
		 struct kernel **kernels)
{
	const char *name = name_of(cubin, a->symbol);

	if (name && a->what == REGISTERS)
		cubin_kernel(kernels, name)->registers = (int)a->number;
	else if (name && a->what == FRAME)
		cubin_kernel(kernels, name)->local_bytes = (int)a->number;
}

/* Reads one section of attributes: the cubin's, or that of the given kernel. */
static void read_section(const struct cubin *cubin, const Elf64_Shdr *section,
			 struct kernel *kernel, struct kernel **kernels)
{
	const char *at = cubin->bytes + section->sh_offset;
	size_t left = section->sh_size, size;
	struct attribute a;

	while (left >= sizeof(a)) {
		size = 4;
		memcpy(&a, at, sizeof(a));
		if (a.form == FORM_SIZED)
			size += a.size;
		if (size > left)
			break;
		if (a.form == FORM_SIZED && !kernel)
			take(cubin, &a, kernels);
		else if (a.form == FORM_SIZED && a.what == PARAMETER)
			take_parameter(at + 8, kernel);
		at += size;
		left -= size;
	}
}

void cubin_read(const void *image, struct kernel **kernels)
{
	const size_t prefix = strlen(INFO ".");
	struct cubin cubin;

	if (!open_cubin(&cubin, image))
		return;
	read_section(&cubin, &cubin.info, NULL, kernels);
	for (size_t i = 0; i < cubin.header.e_shnum; i++) {
		Elf64_Shdr s = section_at(&cubin, i);
		const char *name = section_name(&cubin, &s);

		if (!strncmp(name, INFO ".", prefix))
			read_section(&cubin, &s,
				     cubin_kernel(kernels, name + prefix),
				     kernels);
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
