/* SPDX-License-Identifier: MIT */
/*
 * What PyTorch's libraries require of CUDA: their undefined symbols and needed
 * libraries. The files are not trusted: every offset is checked.
 *
 * Two tables are read, with <elf.h> alone. libelf would be another dependency
 * to save some 80 lines, and it does not lay out dynamic sections, which
 * object.c needs.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/record.h"

/* CUDA's symbols are shorter. */
#define NAME_MOST 200

struct elf {
	const char *bytes;
	size_t size;
	uint64_t sections; /* offset of their headers */
	size_t section_count;
};

struct table {
	const char *bytes;
	size_t size;
};

/* ---- names ---- */

static void add(char ***names, size_t *count, size_t *room, const char *name)
{
	GP_GROW(*names, *count + 1, *room);
	(*names)[(*count)++] = gp_mem_copy_text(name, strlen(name));
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Symbols of CUDA's libraries: cuInit, cudaMalloc, cublas..., __cuda...; but
 * not those of libcurl. */
static bool is_symbol_of_cuda(const char *name)
{
	static const char *const families[] = {
		"cuda",	   "__cuda",   "cublas",   "cudnn", "cufft",
		"curand",  "cusolver", "cusparse", "cupti", "nccl",
		"pncclC",  "nvtx",     "nvrtc",	   "nvml",  "nvJitLink",
		"nvshmem", "cudss",
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (begins(name, families[i]))
			return true;
	return begins(name, "cu") && name[2] >= 'A' && name[2] <= 'Z';
}

static bool is_library_of_cuda(const char *soname)
{
	static const char *const families[] = {
		"libcuda.so",	"libcudart",	"libcublas",	 "libcudnn",
		"libcufft",	"libcurand",	"libcusolver",	 "libcusparse",
		"libcupti",	"libnccl",	"libnvToolsExt", "libnvrtc",
		"libnvidia-ml", "libnvJitLink", "libnvshmem",	 "libcufile",
		"libcudss",
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (begins(soname, families[i]))
			return true;
	return false;
}

/* ---- an ELF file ---- */

/* Copies count bytes at an offset, if they are there. */
static bool take(const struct elf *elf, uint64_t at, void *to, size_t count)
{
	if (at > elf->size || count > elf->size - at)
		return false;
	memcpy(to, elf->bytes + at, count);
	return true;
}

static bool open_elf(struct elf *elf, const char *bytes, size_t size)
{
	Elf64_Ehdr header;

	*elf = (struct elf){ .bytes = bytes, .size = size };
	if (!take(elf, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_shentsize != sizeof(Elf64_Shdr))
		return false;
	elf->sections = header.e_shoff;
	elf->section_count = header.e_shnum;
	return true;
}

static bool take_section(const struct elf *elf, size_t index, Elf64_Shdr *s)
{
	uint64_t at = elf->sections;

	/* No overflow: offsets that would overflow are outside of the file. */
	return index < elf->section_count && at < elf->size &&
	       take(elf, at + index * sizeof(*s), s, sizeof(*s));
}

static bool open_section(const struct elf *elf, const Elf64_Shdr *s,
			 struct table *table)
{
	*table = (struct table){ elf->bytes, s->sh_size };
	if (s->sh_offset > elf->size || s->sh_size > elf->size - s->sh_offset)
		return false;
	table->bytes += s->sh_offset;
	return true;
}

/* The section's contents, and those of its string table. */
static bool open_table(const struct elf *elf, uint32_t type,
		       struct table *items, struct table *names)
{
	Elf64_Shdr s, n;

	for (size_t i = 0; take_section(elf, i, &s); i++)
		if (s.sh_type == type)
			return take_section(elf, s.sh_link, &n) &&
			       open_section(elf, &s, items) &&
			       open_section(elf, &n, names);
	return false;
}

/* NULL: not a name that CUDA's libraries would use. Names become file names and
 * items of lists, so only these characters are allowed. */
static const char *name_at(const struct table *names, uint64_t at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-+";
	const char *name;
	size_t room, length;

	if (at >= names->size)
		return NULL;
	name = names->bytes + at;
	room = names->size - at;
	if (room > NAME_MOST)
		room = NAME_MOST;
	length = strnlen(name, room);
	return length < room && strspn(name, letters) == length ? name : NULL;
}

static void read_symbols(struct gp_wants *wants, const struct elf *elf)
{
	struct table items, names;
	Elf64_Sym s;

	if (!open_table(elf, SHT_DYNSYM, &items, &names))
		return;
	for (size_t i = 0; i < items.size / sizeof(s); i++) {
		const char *name;

		memcpy(&s, items.bytes + i * sizeof(s), sizeof(s));
		name = name_at(&names, s.st_name);
		if (s.st_shndx == SHN_UNDEF && name && is_symbol_of_cuda(name))
			add(&wants->symbols, &wants->symbol_count,
			    &wants->symbol_room, name);
	}
}

static void read_sonames(struct gp_wants *wants, const struct elf *elf)
{
	struct table items, names;
	Elf64_Dyn e;

	if (!open_table(elf, SHT_DYNAMIC, &items, &names))
		return;
	for (size_t i = 0; i < items.size / sizeof(e); i++) {
		const char *name;

		memcpy(&e, items.bytes + i * sizeof(e), sizeof(e));
		name = name_at(&names, e.d_un.d_val);
		if (e.d_tag == DT_NEEDED && name && is_library_of_cuda(name))
			add(&wants->sonames, &wants->soname_count,
			    &wants->soname_room, name);
	}
}

void gp_wants_scan(struct gp_wants *wants, const void *bytes, size_t size)
{
	struct elf elf;

	if (!open_elf(&elf, bytes, size))
		return;
	read_symbols(wants, &elf);
	read_sonames(wants, &elf);
}

static void read_library(struct gp_wants *wants, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	void *bytes;

	if (file < 0)
		return;
	if (!fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size) {
		bytes = mmap(NULL, (size_t)about.st_size, PROT_READ,
			     MAP_PRIVATE, file, 0);
		if (bytes != MAP_FAILED) {
			gp_wants_scan(wants, bytes, (size_t)about.st_size);
			munmap(bytes, (size_t)about.st_size);
		}
	}
	close(file);
}

/* ---- without duplicates ---- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts and removes duplicates, so that the same libraries give the same files.
 */
static void tidy(char **names, size_t *count)
{
	size_t kept = 0;

	if (*count)
		qsort(names, *count, sizeof(*names), compare);
	for (size_t i = 0; i < *count; i++) {
		if (kept && !strcmp(names[kept - 1], names[i]))
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	*count = kept;
}

/* ---- packages beside PyTorch ---- */

/* Wheels have their libraries no deeper than this. */
#define MOST_DEPTH 4

static bool is_folder(const char *path, const struct dirent *entry)
{
	struct stat about;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !lstat(path, &about) && S_ISDIR(about.st_mode);
}

/* CUDA's wheels depend only on each other and are not loaded; PyTorch's
 * libraries have been read already. */
static bool is_passed_over(const char *name, int depth)
{
	return *name == '.' || !strcmp(name, "__pycache__") ||
	       (!depth && (!strcmp(name, "nvidia") || !strcmp(name, "torch")));
}

static void read_packages(struct gp_wants *wants, const char *folder, int depth)
{
	DIR *list = opendir(folder);
	char path[PATH_MAX];
	struct dirent *entry;

	while (list && (entry = readdir(list))) {
		if (is_passed_over(entry->d_name, depth) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
				     entry->d_name) >= sizeof(path))
			continue;
		if (strstr(entry->d_name, ".so"))
			read_library(wants, path);
		else if (depth < MOST_DEPTH && is_folder(path, entry))
			read_packages(wants, path, depth + 1);
	}
	if (list)
		closedir(list);
}

void gp_wants_read_packages(struct gp_wants *wants, const char *folder)
{
	read_packages(wants, folder, 0);
	tidy(wants->symbols, &wants->symbol_count);
	tidy(wants->sonames, &wants->soname_count);
}

/* ---- all of them ---- */

/* Libraries that are loaded with dlopen, whatever PyTorch is linked to. */
static void add_loaded(struct gp_wants *wants)
{
	static const char *const loaded[] = {
		"libcuda.so.1", "libnvidia-ml.so.1",
		"libcudnn_cnn_infer.so.8", /* PyTorch 2.1 to 2.3 look for it */
	};

	for (size_t i = 0; i < sizeof(loaded) / sizeof(*loaded); i++)
		add(&wants->sonames, &wants->soname_count, &wants->soname_room,
		    loaded[i]);
}

/* From a soname such as "libcudart.so.12". Wheels that bundle the library have
 * a hash in its name: "libcudart-d0da41ae.so.11.0". */
static unsigned cuda_version(const struct gp_wants *wants)
{
	static const char version[] = ".so.";

	for (size_t i = 0; i < wants->soname_count; i++) {
		const char *at = begins(wants->sonames[i], "libcudart")
					 ? strstr(wants->sonames[i], version)
					 : NULL;

		if (at)
			return (unsigned)strtoul(at + sizeof(version) - 1, NULL,
						 10);
	}
	return 0;
}

enum gp_status gp_wants_read(struct gp_wants *wants, const char *folder,
			     struct gp_diag *diag)
{
	DIR *list = opendir(folder);
	char path[PATH_MAX];
	struct dirent *entry;

	*wants = (struct gp_wants){ 0 };
	if (!list) {
		gp_diag_file(diag, folder);
		return gp_diag_set(diag, GP_SYSTEM, "cannot read it: %s",
				   strerror(errno));
	}
	while ((entry = readdir(list)))
		if (strstr(entry->d_name, ".so") &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder,
				     entry->d_name) < sizeof(path))
			read_library(wants, path);
	closedir(list);
	add_loaded(wants);
	tidy(wants->symbols, &wants->symbol_count);
	tidy(wants->sonames, &wants->soname_count);
	wants->cuda = cuda_version(wants);
	if (wants->cuda)
		return GP_OK;
	gp_diag_file(diag, folder);
	gp_diag_hint(diag, "install PyTorch's CUDA build; no GPU is needed");
	return gp_diag_set(diag, GP_SYSTEM,
			   "this PyTorch was built without CUDA");
}

static void release(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void gp_wants_release(struct gp_wants *wants)
{
	release(wants->symbols, wants->symbol_count);
	release(wants->sonames, wants->soname_count);
	*wants = (struct gp_wants){ 0 };
}
