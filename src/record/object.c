/* SPDX-License-Identifier: MIT */
/*
 * Writes shared objects for x86-64 without a compiler or linker, in the format
 * of the System V gABI (ELF-64) and its x86-64 supplement.
 *
 * One segment is readable and executable: headers, symbols, names, hash table,
 * relocations and code. The other is writable: the stand-in's address and the
 * dynamic section. The code of each symbol is
 *
 *	lea name(%rip), %rsi
 *	jmp *stand_in(%rip)
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "record/record.h"

#define PAGE	  4096
#define CODE_SIZE 16
#define STAND_IN  "simcuda_stand_in"
/* Symbols before the defined ones: the null symbol and the stand-in. */
#define BEFORE	  2

enum section {
	NO_SECTION,
	TEXT,
	DYNSYM,
	DYNSTR,
	HASH,
	RELA,
	DATA,
	DYNAMIC,
	SHSTRTAB,
	SECTIONS
};

struct image {
	char *bytes;
	size_t used, room;
	size_t symbols, names, names_size, hash, hash_size, relocation, code;
	size_t data, dynamic, end;
};

static size_t add(struct image *image, const void *bytes, size_t size)
{
	size_t at = image->used;

	GP_GROW(image->bytes, at + size, image->room);
	if (bytes)
		memcpy(image->bytes + at, bytes, size);
	else
		memset(image->bytes + at, 0, size);
	image->used += size;
	return at;
}

static void align(struct image *image, size_t to)
{
	if (image->used % to)
		add(image, NULL, to - image->used % to);
}

/* The string table holds, in this order: "", the stand-in, the soname, the
 * needed libraries, the symbols. Names are found by walking it, so only the
 * offset of each is computed as it is added. */
static uint32_t add_name(struct image *image, const char *name)
{
	return (uint32_t)(add(image, name, strlen(name) + 1) - image->names);
}

/* The hash function of the System V ABI. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 0;

	for (; *name; name++) {
		uint32_t high;

		h = (h << 4) + (unsigned char)*name;
		high = h & 0xf0000000;
		h ^= high >> 24;
		h &= ~high;
	}
	return h;
}

static void add_hash(struct image *image, const struct gp_object *object)
{
	uint32_t count = (uint32_t)object->symbol_count + BEFORE;
	uint32_t *words = gp_mem_alloc(2 + 2 * (size_t)count, sizeof(*words));
	uint32_t *buckets = words + 2, *chains = buckets + count;

	words[0] = words[1] = count;
	for (uint32_t i = 0; i < object->symbol_count; i++) {
		uint32_t b = hash_of(object->symbols[i]) % count;

		chains[i + BEFORE] = buckets[b];
		buckets[b] = i + BEFORE;
	}
	image->hash_size = (2 + 2 * (size_t)count) * sizeof(*words);
	image->hash = add(image, words, image->hash_size);
	free(words);
}

static void set_symbol(struct image *image, size_t index, uint32_t name,
		       size_t value)
{
	Elf64_Sym symbol = {
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = value ? TEXT : SHN_UNDEF,
		.st_value = value,
		.st_size = value ? CODE_SIZE : 0,
	};

	memcpy(image->bytes + image->symbols + index * sizeof(symbol), &symbol,
	       sizeof(symbol));
}

static void put_i32(char *to, size_t target, size_t next)
{
	int32_t distance = (int32_t)((int64_t)target - (int64_t)next);

	memcpy(to, &distance, sizeof(distance));
}

static void add_code(struct image *image, const struct gp_object *object,
		     const uint32_t *names)
{
	image->code = image->used;
	image->data = (image->code + object->symbol_count * CODE_SIZE + PAGE) /
		      PAGE * PAGE;
	for (size_t i = 0; i < object->symbol_count; i++) {
		char code[CODE_SIZE] = { 0x48, (char)0x8d, 0x35 };
		size_t at = image->used;

		put_i32(code + 3, image->names + names[i], at + 7);
		code[7] = (char)0xff;
		code[8] = 0x25;
		put_i32(code + 9, image->data, at + 13);
		add(image, code, sizeof(code));
		set_symbol(image, i + BEFORE, names[i], at);
	}
	align(image, PAGE);
	if (image->used < image->data)
		add(image, NULL, image->data - image->used);
}

static void add_dynamic(struct image *image, int64_t tag, uint64_t value)
{
	Elf64_Dyn entry = { .d_tag = tag, .d_un.d_val = value };

	add(image, &entry, sizeof(entry));
}

static void add_data(struct image *image, uint32_t soname,
		     const uint32_t *needed, size_t needed_count)
{
	add(image, NULL, sizeof(uint64_t));
	align(image, 16);
	image->dynamic = image->used;
	for (size_t i = 0; i < needed_count; i++)
		add_dynamic(image, DT_NEEDED, needed[i]);
	add_dynamic(image, DT_SONAME, soname);
	add_dynamic(image, DT_HASH, image->hash);
	add_dynamic(image, DT_SYMTAB, image->symbols);
	add_dynamic(image, DT_SYMENT, sizeof(Elf64_Sym));
	add_dynamic(image, DT_STRTAB, image->names);
	add_dynamic(image, DT_STRSZ, image->names_size);
	add_dynamic(image, DT_RELA, image->relocation);
	add_dynamic(image, DT_RELASZ, sizeof(Elf64_Rela));
	add_dynamic(image, DT_RELAENT, sizeof(Elf64_Rela));
	add_dynamic(image, DT_NULL, 0);
	image->end = image->used;
}

/* ---- section headers: for linkers; loaders use only the segments ---- */

static const struct {
	const char *name;
	uint32_t type, flags, link, info, entry;
} sections[SECTIONS] = {
	[NO_SECTION] = { "", SHT_NULL, 0, 0, 0, 0 },
	[TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0 },
	/* sh_info: index of the first global symbol, after the null symbol. */
	[DYNSYM] = { ".dynsym", SHT_DYNSYM, SHF_ALLOC, DYNSTR, 1,
		     sizeof(Elf64_Sym) },
	[DYNSTR] = { ".dynstr", SHT_STRTAB, SHF_ALLOC, 0, 0, 0 },
	[HASH] = { ".hash", SHT_HASH, SHF_ALLOC, DYNSYM, 0, 4 },
	[RELA] = { ".rela.dyn", SHT_RELA, SHF_ALLOC, DYNSYM, 0,
		   sizeof(Elf64_Rela) },
	[DATA] = { ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 0, 0 },
	[DYNAMIC] = { ".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, DYNSTR, 0,
		      sizeof(Elf64_Dyn) },
	[SHSTRTAB] = { ".shstrtab", SHT_STRTAB, 0, 0, 0, 0 },
};

/* Writes the section headers and the section names. Returns the offset of the
 * headers. */
static size_t add_sections(struct image *image, size_t symbol_count)
{
	size_t names = image->used;
	const size_t at[SECTIONS][2] = {
		[TEXT] = { image->code, symbol_count * CODE_SIZE },
		[DYNSYM] = { image->symbols,
			     (symbol_count + BEFORE) * sizeof(Elf64_Sym) },
		[DYNSTR] = { image->names, image->names_size },
		[HASH] = { image->hash, image->hash_size },
		[RELA] = { image->relocation, sizeof(Elf64_Rela) },
		[DATA] = { image->data, image->dynamic - image->data },
		[DYNAMIC] = { image->dynamic, image->end - image->dynamic },
		[SHSTRTAB] = { names, 0 },
	};
	Elf64_Shdr headers[SECTIONS] = { 0 };

	for (int i = 0; i < SECTIONS; i++) {
		bool is_loaded = sections[i].flags & SHF_ALLOC;

		headers[i] = (Elf64_Shdr){
			.sh_name = (uint32_t)(image->used - names),
			.sh_type = sections[i].type,
			.sh_flags = sections[i].flags,
			.sh_addr = is_loaded ? at[i][0] : 0,
			.sh_offset = at[i][0],
			.sh_size = at[i][1],
			.sh_link = sections[i].link,
			.sh_info = sections[i].info,
			.sh_addralign = i ? 1 : 0,
			.sh_entsize = sections[i].entry,
		};
		add(image, sections[i].name, strlen(sections[i].name) + 1);
	}
	headers[SHSTRTAB].sh_size = image->used - names;
	align(image, 8);
	return add(image, headers, sizeof(headers));
}

static void set_headers(struct image *image, size_t section_headers)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
		.e_shoff = section_headers,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SHSTRTAB,
	};
	size_t data_size = image->end - image->data;
	size_t dynamic_size = image->end - image->dynamic;
	Elf64_Phdr segments[4] = {
		{ PT_LOAD, PF_R | PF_X, 0, 0, 0, image->data, image->data,
		  PAGE },
		{ PT_LOAD, PF_R | PF_W, image->data, image->data, image->data,
		  data_size, data_size, PAGE },
		{ PT_DYNAMIC, PF_R | PF_W, image->dynamic, image->dynamic,
		  image->dynamic, dynamic_size, dynamic_size, 8 },
		{ PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 },
	};

	memcpy(image->bytes, &header, sizeof(header));
	memcpy(image->bytes + sizeof(header), segments, sizeof(segments));
}

static void build(struct image *image, const struct gp_object *object)
{
	uint32_t *names =
		gp_mem_alloc(object->symbol_count + object->needed_count + 1,
			     sizeof(*names));
	uint32_t *needed = names + object->symbol_count, stand_in, soname;
	Elf64_Rela relocation = { .r_info = ELF64_R_INFO(1, R_X86_64_64) };

	add(image, NULL, sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr));
	image->symbols =
		add(image, NULL,
		    (object->symbol_count + BEFORE) * sizeof(Elf64_Sym));
	image->names = image->used;
	add_name(image, "");
	stand_in = add_name(image, STAND_IN);
	soname = add_name(image, object->soname);
	for (size_t i = 0; i < object->needed_count; i++)
		needed[i] = add_name(image, object->needed[i]);
	for (size_t i = 0; i < object->symbol_count; i++)
		names[i] = add_name(image, object->symbols[i]);
	image->names_size = image->used - image->names;
	align(image, 8);
	add_hash(image, object);
	align(image, 8);
	image->relocation = add(image, NULL, sizeof(relocation));
	align(image, CODE_SIZE);
	set_symbol(image, 1, stand_in, 0);
	add_code(image, object, names);
	relocation.r_offset = image->data;
	memcpy(image->bytes + image->relocation, &relocation,
	       sizeof(relocation));
	add_data(image, soname, needed, object->needed_count);
	set_headers(image, add_sections(image, object->symbol_count));
	free(names);
}

enum gp_status gp_object_write(const struct gp_object *object, const char *path,
			       struct gp_diag *diag)
{
	struct image image = { 0 };
	struct gp_output output;
	enum gp_status status = gp_output_open(&output, path, diag);

	if (status != GP_OK)
		return status;
	build(&image, object);
	fwrite(image.bytes, 1, image.used, output.stream);
	free(image.bytes);
	status = gp_output_commit(&output, diag);
	if (status != GP_OK)
		gp_output_abandon(&output);
	return status;
}

/* ---- the folder of libraries that stand in for CUDA's ---- */

#define ALL_SYMBOLS "libgpupool-stand-ins.so"

static enum gp_status write_object(const struct gp_object *object,
				   const char *folder, struct gp_diag *diag)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder,
			     object->soname) >= sizeof(path))
		return gp_diag_set(diag, GP_SYSTEM, "a path is too long");
	if (!access(path, R_OK))
		return GP_OK;
	return gp_object_write(object, path, diag);
}

/* An empty library that depends on the runtime and the stand-ins: dlsym on its
 * handle searches its dependencies too. */
static enum gp_status write_empty(const struct gp_wants *wants, size_t index,
				  const char *folder, struct gp_diag *diag)
{
	static const char *const needed[] = { "libgpupool-simcuda.so",
					      ALL_SYMBOLS };
	const struct gp_object object = {
		.soname = wants->sonames[index],
		.needed = needed,
		.needed_count = 2,
	};

	return write_object(&object, folder, diag);
}

enum gp_status gp_stand_ins_write(const struct gp_wants *wants,
				  const char *folder, struct gp_diag *diag)
{
	const struct gp_object all = {
		.soname = ALL_SYMBOLS,
		.symbols = wants->symbols,
		.symbol_count = wants->symbol_count,
	};
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < wants->soname_count && status == GP_OK; i++)
		status = write_empty(wants, i, folder, diag);
	/* Written last: once it exists, the others are complete. */
	return status == GP_OK ? write_object(&all, folder, diag) : status;
}
