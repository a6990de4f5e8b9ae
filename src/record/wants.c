/*
 * What PyTorch's libraries want of CUDA: their undefined symbols, and the
 * libraries they name.  Files are read as untrusted: every offset is checked.
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
#include "gpupool/record.h"

struct elf {
	const char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	size_t section_count;
};

struct table {
	const char *bytes;
	size_t size;
};

/* ---- names ---- */

static void add(char ***names, size_t *count, size_t *room, const char *name)
{
	*names = gp_mem_grow(*names, room, *count + 1, sizeof(**names));
	(*names)[(*count)++] = gp_mem_copy_text(name, strlen(name));
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* CUDA's own: cuInit, cudaMalloc, cublas..., __cuda...; not curl's. */
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

static bool is_within(const struct elf *elf, uint64_t at, uint64_t size)
{
	return at <= elf->size && size <= elf->size - at;
}

static bool open_elf(struct elf *elf, const char *bytes, size_t size)
{
	Elf64_Ehdr header;

	*elf = (struct elf){ .bytes = bytes, .size = size };
	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff % 8 ||
	    !is_within(elf, header.e_shoff,
		       (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
		return false;
	elf->sections =
		(const Elf64_Shdr *)(const void *)(bytes + header.e_shoff);
	elf->section_count = header.e_shnum;
	return true;
}

/* The section's bytes and those of the names it links to. */
static bool open_table(const struct elf *elf, uint32_t type,
		       struct table *items, struct table *names)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *s = &elf->sections[i], *n;

		if (s->sh_type != type || s->sh_link >= elf->section_count)
			continue;
		n = &elf->sections[s->sh_link];
		if (s->sh_offset % 8 || !n->sh_size ||
		    !is_within(elf, s->sh_offset, s->sh_size) ||
		    !is_within(elf, n->sh_offset, n->sh_size) ||
		    elf->bytes[n->sh_offset + n->sh_size - 1])
			return false;
		*items =
			(struct table){ elf->bytes + s->sh_offset, s->sh_size };
		*names =
			(struct table){ elf->bytes + n->sh_offset, n->sh_size };
		return true;
	}
	return false;
}

static void read_symbols(struct gp_wants *wants, const struct elf *elf)
{
	struct table items, names;
	const Elf64_Sym *symbols;

	if (!open_table(elf, SHT_DYNSYM, &items, &names))
		return;
	symbols = (const Elf64_Sym *)(const void *)items.bytes;
	for (size_t i = 0; i < items.size / sizeof(*symbols); i++) {
		const Elf64_Sym *s = &symbols[i];

		if (s->st_shndx == SHN_UNDEF && s->st_name < names.size &&
		    is_symbol_of_cuda(names.bytes + s->st_name))
			add(&wants->symbols, &wants->symbol_count,
			    &wants->symbol_room, names.bytes + s->st_name);
	}
}

static void read_sonames(struct gp_wants *wants, const struct elf *elf)
{
	struct table items, names;
	const Elf64_Dyn *entries;

	if (!open_table(elf, SHT_DYNAMIC, &items, &names))
		return;
	entries = (const Elf64_Dyn *)(const void *)items.bytes;
	for (size_t i = 0; i < items.size / sizeof(*entries); i++) {
		const Elf64_Dyn *e = &entries[i];

		if (e->d_tag == DT_NEEDED && e->d_un.d_val < names.size &&
		    is_library_of_cuda(names.bytes + e->d_un.d_val))
			add(&wants->sonames, &wants->soname_count,
			    &wants->soname_room, names.bytes + e->d_un.d_val);
	}
}

static void read_library(struct gp_wants *wants, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	struct elf elf;
	void *bytes;

	if (file < 0)
		return;
	if (!fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size) {
		bytes = mmap(NULL, (size_t)about.st_size, PROT_READ,
			     MAP_PRIVATE, file, 0);
		if (bytes != MAP_FAILED) {
			if (open_elf(&elf, bytes, (size_t)about.st_size)) {
				read_symbols(wants, &elf);
				read_sonames(wants, &elf);
			}
			munmap(bytes, (size_t)about.st_size);
		}
	}
	close(file);
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, each once: the same libraries give the same files. */
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

/* Those that are loaded by name, whatever PyTorch links to. */
static void add_loaded(struct gp_wants *wants)
{
	static const char *const loaded[] = {
		"libcuda.so.1",
		"libnvidia-ml.so.1",
	};

	for (size_t i = 0; i < sizeof(loaded) / sizeof(*loaded); i++)
		add(&wants->sonames, &wants->soname_count, &wants->soname_room,
		    loaded[i]);
}

static unsigned cuda_version(const struct gp_wants *wants)
{
	static const char runtime[] = "libcudart.so.";

	for (size_t i = 0; i < wants->soname_count; i++)
		if (begins(wants->sonames[i], runtime))
			return (unsigned)strtoul(wants->sonames[i] +
							 sizeof(runtime) - 1,
						 NULL, 10);
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
