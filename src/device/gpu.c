/* SPDX-License-Identifier: MIT */
/*
 * Real devices and their properties as reported by CUDA. The H200 was measured
 * for this project (tests/gpu/results), the others were not.
 *
 * Memory is cudaDeviceProp's totalGlobalMem, which is cudaMemGetInfo's total;
 * it varies by some MiB between drivers. `source` says where it was found:
 *
 *	deviceQuery N	output of NVIDIA's sample, as users published it, in
 *			bytes; N is the CUDA version of the driver
 *	measured	cudaMemGetInfo on the device, driver 580, CUDA 13.0
 *	torch N		torch.cuda.get_device_properties(), in MiB, of that
 *			release if it was given
 *
 * Multiprocessors, L2, bus and clocks are from the same outputs if these
 * contain them, and otherwise from NVIDIA's architecture whitepapers. B200's
 * bus, L2 and memory clock: github.com/pytorch/ao, pull request 4002. No output
 * had the clocks of the A10G or the core clock of B200: those of A10 and H200
 * are used. Bus and clocks of the RTX 4070 Ti SUPER and RTX PRO 6000 are from
 * NVIDIA's data sheets.
 *
 * The limits of a multiprocessor and a block follow from the compute
 * capability: CUDA C++ Programming Guide, technical specifications per compute
 * capability.
 *
 * compiled_for: PyPI's wheels contain code for 6.0 (to 2.7), 7.0, 7.5, 8.0,
 * 8.6, 9.0, 10.0 and 12.0 (torch.cuda.get_arch_list()); a device runs the
 * highest of its major version that does not exceed its own.
 */
#include "device/gpu.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "gpupool/knob.h"

#define KIB 1024
#define MIB (UINT64_C(1) << 20)
#define MHZ 1000 /* kHz */

/* Limits by compute capability. */
#define SHARES(optin, sm, threads, blocks)                                     \
	.shared_per_block = 48 * KIB, .shared_per_block_optin = (optin)*KIB,   \
	.shared_per_sm = (sm)*KIB, .threads_per_sm = (threads),                \
	.blocks_per_sm = (blocks)
#define CC_6_0 .major = 6, .minor = 0, SHARES(48, 64, 2048, 32)
#define CC_7_0 .major = 7, .minor = 0, SHARES(96, 96, 2048, 32)
#define CC_7_5 .major = 7, .minor = 5, SHARES(64, 64, 1024, 16)
#define CC_8_0 .major = 8, .minor = 0, SHARES(163, 164, 2048, 32)
#define CC_8_6 .major = 8, .minor = 6, SHARES(99, 100, 1536, 16)
#define CC_8_9                                                                 \
	.major = 8, .minor = 9, SHARES(99, 100, 1536, 24), .compiled_for = 86
#define CC_9_0	.major = 9, .minor = 0, SHARES(227, 228, 2048, 32)
#define CC_10_0 .major = 10, .minor = 0, SHARES(227, 228, 2048, 32)
#define CC_12_0 .major = 12, .minor = 0, SHARES(99, 100, 1536, 24)

#define GPU(name_, capacity_, source_, shown_, cc, sms, l2, bus, core, memory) \
	{                                                                      \
		.name = name_, .capacity = (capacity_), .source = source_,     \
		.properties = {                                                \
			.name = shown_,                                        \
			cc,                                                    \
			.multiprocessors = (sms),                              \
			.l2_bytes = (l2)*KIB,                                  \
			.bus_width_bits = (bus),                               \
			.clock_khz = (core)*MHZ,                               \
			.memory_clock_khz = (memory)*MHZ                       \
		}                                                              \
	}

/* clang-format off */
static const struct gp_gpu table[] = {
	GPU("p100", 16280 * MIB, "torch 1.9",
	    "Tesla P100-PCIE-16GB", CC_6_0, 56, 4096, 4096, 1328, 715),
	GPU("v100-16gb", 16928342016, "deviceQuery 12.4",
	    "Tesla V100-SXM2-16GB", CC_7_0, 80, 6144, 4096, 1530, 877),
	GPU("v100-32gb", 34089730048, "deviceQuery 11.4",
	    "Tesla V100-SXM2-32GB", CC_7_0, 80, 6144, 4096, 1530, 877),
	GPU("t4", 15642329088, "deviceQuery 12.5",
	    "Tesla T4", CC_7_5, 40, 4096, 256, 1590, 5001),
	GPU("rtx-2080-ti", 11019 * MIB, "torch 1.8",
	    "GeForce RTX 2080 Ti", CC_7_5, 68, 5632, 352, 1545, 7000),
	GPU("rtx-8000", 48601 * MIB, "torch",
	    "Quadro RTX 8000", CC_7_5, 72, 6144, 384, 1770, 7001),
	GPU("a100-40gb", 42298834944, "deviceQuery 12.2",
	    "NVIDIA A100-SXM4-40GB", CC_8_0, 108, 40960, 5120, 1410, 1215),
	GPU("a100-80gb", 85100068864, "deviceQuery 12.5",
	    "NVIDIA A100-SXM4-80GB", CC_8_0, 108, 40960, 5120, 1410, 1593),
	GPU("a10", 23696375808, "deviceQuery 12.8",
	    "NVIDIA A10", CC_8_6, 72, 6144, 384, 1695, 6251),
	GPU("a10g", 22587 * MIB, "torch 2.15",
	    "NVIDIA A10G", CC_8_6, 80, 6144, 384, 1695, 6251),
	GPU("a40", 45416 * MIB, "torch",
	    "NVIDIA A40", CC_8_6, 84, 6144, 384, 1740, 7251),
	GPU("rtx-3060", 12587106304, "deviceQuery 12.4",
	    "NVIDIA GeForce RTX 3060", CC_8_6, 28, 2304, 192, 1777, 7501),
	GPU("rtx-3060-laptop", 6226378752, "deviceQuery 12.2",
	    "NVIDIA GeForce RTX 3060 Laptop GPU",
	    CC_8_6, 30, 3072, 192, 1702, 7001),
	GPU("rtx-3080", 10240 * MIB, "torch",
	    "NVIDIA GeForce RTX 3080", CC_8_6, 68, 5120, 320, 1710, 9501),
	GPU("rtx-3090", 25414860800, "deviceQuery 12.2",
	    "NVIDIA GeForce RTX 3090", CC_8_6, 82, 6144, 384, 1740, 9751),
	GPU("rtx-3090-ti", 24114 * MIB, "torch",
	    "NVIDIA GeForce RTX 3090 Ti",
	    CC_8_6, 84, 6144, 384, 1860, 10501),
	GPU("rtx-a4000", 17174683648, "deviceQuery 12.3",
	    "NVIDIA RTX A4000", CC_8_6, 48, 4096, 256, 1560, 7001),
	GPU("rtx-a5000", 24114 * MIB, "torch",
	    "NVIDIA RTX A5000", CC_8_6, 64, 6144, 384, 1695, 8001),
	GPU("rtx-a6000", 51160023040, "deviceQuery 12.7",
	    "NVIDIA RTX A6000", CC_8_6, 84, 6144, 384, 1800, 8001),
	GPU("l4", 23612293120, "deviceQuery 12.0",
	    "NVIDIA L4", CC_8_9, 58, 49152, 192, 2040, 6251),
	GPU("l40s", 47576711168, "deviceQuery 12.4",
	    "NVIDIA L40S", CC_8_9, 142, 98304, 384, 2520, 9001),
	GPU("rtx-4060-laptop", 8325824512, "deviceQuery 12.3",
	    "NVIDIA GeForce RTX 4060 Laptop GPU",
	    CC_8_9, 24, 32768, 128, 2250, 8001),
	GPU("rtx-4070-ti-super", 15974 * MIB, "torch",
	    "NVIDIA GeForce RTX 4070 Ti SUPER",
	    CC_8_9, 66, 49152, 256, 2610, 10501),
	GPU("rtx-4080", 16049 * MIB, "torch",
	    "NVIDIA GeForce RTX 4080", CC_8_9, 76, 65536, 256, 2505, 11201),
	GPU("rtx-4090", 25250627584, "deviceQuery 13.0",
	    "NVIDIA GeForce RTX 4090", CC_8_9, 128, 73728, 384, 2520, 10501),
	GPU("rtx-6000-ada", 48622 * MIB, "torch 2.1",
	    "NVIDIA RTX 6000 Ada Generation",
	    CC_8_9, 142, 98304, 384, 2505, 10001),
	GPU("h100-80gb", 85017755648, "deviceQuery 13.0",
	    "NVIDIA H100 80GB HBM3", CC_9_0, 132, 51200, 5120, 1980, 2619),
	GPU("h100-pcie", 81008 * MIB, "torch 2.0",
	    "NVIDIA H100 PCIe", CC_9_0, 114, 51200, 5120, 1755, 1593),
	GPU("h200", 150109880320, "measured",
	    "NVIDIA H200", CC_9_0, 132, 61440, 6144, 1980, 3201),
	GPU("h20", 97285 * MIB, "torch",
	    "NVIDIA H20", CC_9_0, 78, 61440, 6144, 1980, 2619),
	GPU("gh200", 102005473280, "deviceQuery 12.2",
	    "NVIDIA GH200 480GB", CC_9_0, 132, 61440, 6144, 1980, 2619),
	GPU("b200", 182631 * MIB, "torch 2.8",
	    "NVIDIA B200", CC_10_0, 148, 129536, 7680, 1980, 3996),
	GPU("rtx-5080", 16302 * MIB, "torch 2.7",
	    "NVIDIA GeForce RTX 5080",
	    CC_12_0, 84, 65536, 256, 2617, 15001),
	GPU("rtx-5090", 33677180928, "deviceQuery 12.8",
	    "NVIDIA GeForce RTX 5090", CC_12_0, 170, 98304, 512, 2655, 14001),
	GPU("rtx-pro-6000", 97250 * MIB, "torch 2.7",
	    "NVIDIA RTX PRO 6000 Blackwell Server Edition",
	    CC_12_0, 188, 131072, 512, 2617, 12481),
};
/* clang-format on */

#define COUNT (sizeof(table) / sizeof(*table))

const struct gp_gpu *gp_gpu_table(size_t *count)
{
	*count = COUNT;
	return table;
}

const struct gp_gpu *gp_gpu_of_capacity(uint64_t bytes)
{
	const struct gp_gpu *nearest = NULL;
	uint64_t least = bytes / 100;

	for (size_t i = 0; i < COUNT; i++) {
		uint64_t off = gp_larger(bytes, table[i].capacity) -
			       gp_smaller(bytes, table[i].capacity);

		if (off < least) {
			nearest = &table[i];
			least = off;
		}
	}
	return nearest;
}

/* ---- memory outside PyTorch's allocator ---- */

/*
 * From messages of PyTorch's OutOfMemoryError that users published: "this
 * process has N memory in use", less the bytes allocated by PyTorch and the
 * bytes reserved but unallocated, where N plus the free bytes was the total.
 * Each message names its device, or has a total that is unique in the table.
 *
 * A100-40GB's nvidia-smi: 1,500 trainings of GPUMemNet (arXiv 2602.17817),
 * measured less what the same programs reserve; there nvidia-smi includes
 * memory that the driver keeps for itself.
 */
static const struct non_pytorch {
	const char *gpu;
	uint64_t low_mib, high_mib, shown_mib; /* 0: as high_mib */
	const char *source;
} non_pytorch[] = {
	{ "t4", 141, 141, 0, "FoundationVision/GenerateU#10" },
	{ "rtx-2080-ti", 197, 197, 0, "lllyasviel/FramePack#369" },
	{ "a100-40gb", 414, 501, 1429,
	  "awslabs/keys_values#92, TianheWu/CoSeR#10, GPUMemNet" },
	{ "a100-80gb", 409, 409, 0, "HiDream-ai/VAREdit#6" },
	{ "rtx-3060", 287, 287, 0, "FireRedTeam/FireRedTTS2#17" },
	{ "rtx-3080", 257, 257, 0, "bcmi/libcom#54" },
	{ "rtx-a4000", 210, 210, 0, "DengKaiCQ/VGGT-Long#6" },
	{ "l40s", 507, 507, 0, "QwenLM/Qwen3-VL#2097 (an L40)" },
	{ "rtx-4090", 473, 503, 0,
	  "pinokiofactory/flux-webui#11, 3DTopia/Phidias-Diffusion#8" },
	{ "rtx-6000-ada", 429, 429, 0, "DINGYANB/MTVCrafter#21" },
	{ "rtx-5090", 307, 595, 0, "murong-xu/CADS#4, Wan-Video/Wan2.1#465" },
};

/*
 * What NVML reports for each of 100 processes, less what the process reserved:
 * 518 MiB with just a context, 610 with PyTorch's kernels, 742 with cuBLASLt,
 * 758 with cuDNN, 828 with more streams. NCCL is not included; with NCCL it was
 * 1,168. Nothing else was measured on such large devices, so these figures are
 * used for these devices only.
 */
static const struct non_pytorch measured[] = {
	{ "h100-80gb", 518, 828, 837,
	  "tests/gpu/results/nvidia-h100-80gb-hbm3" },
	{ "h200", 518, 828, 837, "tests/gpu/results/nvidia-h200" },
};

static struct gp_non_pytorch range_of(const struct non_pytorch *row)
{
	return (struct gp_non_pytorch){
		.low = row->low_mib * MIB,
		.high = row->high_mib * MIB,
		.shown =
			(row->shown_mib ? row->shown_mib : row->high_mib) * MIB,
		.source = row->source,
	};
}

struct gp_non_pytorch gp_gpu_non_pytorch(const struct gp_gpu *gpu)
{
	struct gp_non_pytorch all = { .low = UINT64_MAX };

	for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++)
		if (!strcmp(measured[i].gpu, gpu->name))
			return range_of(&measured[i]);
	for (size_t i = 0; i < sizeof(non_pytorch) / sizeof(*non_pytorch);
	     i++) {
		struct gp_non_pytorch row = range_of(&non_pytorch[i]);

		if (!strcmp(non_pytorch[i].gpu, gpu->name))
			return row;
		if (row.low < all.low)
			all.low = row.low;
		if (row.high > all.high)
			all.shown = all.high = row.high;
	}
	return all;
}

/* ---- spellings ---- */

#define HELP_LISTS   "gpupool record --gpu help lists the devices"
#define LONGEST	     64 /* longer than any spelling of a device */
#define MOST_CHOICES 4
#define MOST_OFF     12 /* per cent: a 16 GB T4 reports that much less */

/* A spelling, reduced to what distinguishes devices: of "NVIDIA
 * A100-SXM4-40GB", "a100" and 40. */
struct spelling {
	char text[LONGEST];
	unsigned gib; /* 0: not given */
};

static bool says_nothing(const char *word)
{
	static const char *const words[] = {
		"nvidia", "tesla", "geforce", "quadro",	    "rtx",  "gpu",
		"sxm",	  "sxm2",  "sxm3",    "sxm4",	    "sxm5", "sxm6",
		"hbm2",	  "hbm2e", "hbm3",    "generation", "hbm3e"
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* Steps over the next word and stores it in lower case; "rtx3090" is stored as
 * "3090". */
static const char *next_word(const char *at, char word[LONGEST])
{
	size_t length = 0;

	while (*at && !isalnum((unsigned char)*at))
		at++;
	for (; isalnum((unsigned char)*at); at++)
		if (length < LONGEST - 1)
			word[length++] = (char)tolower((unsigned char)*at);
	word[length] = 0;
	if (!strncmp(word, "rtx", 3))
		memmove(word, word + 3, length - 2);
	return at;
}

/* The size in "80gb", or in "gb" after the word "80". */
static unsigned size_of(const char *word, const char *before)
{
	static const char digits[] = "0123456789";
	size_t count = strspn(word, digits);
	const char *number = count ? word : before;

	word += count;
	if (strcmp(word, "g") != 0 && strcmp(word, "gb") != 0 &&
	    strcmp(word, "gib") != 0)
		return 0;
	count = strspn(number, digits);
	return count && count < 5 && (number != before || !number[count])
		       ? (unsigned)strtoul(number, NULL, 10)
		       : 0;
}

static struct spelling normalize(const char *name)
{
	struct spelling spelling = { 0 };
	char word[LONGEST], before[LONGEST] = "";
	size_t length = 0, start = 0;

	while (*name) {
		unsigned gib;

		name = next_word(name, word);
		gib = size_of(word, before);
		if (gib && !isdigit((unsigned char)*word))
			length = start; /* drops the word "80" */
		start = length;
		if (gib)
			spelling.gib = gib;
		else if (!says_nothing(word) &&
			 length + strlen(word) < LONGEST) {
			memcpy(spelling.text + length, word, strlen(word));
			length += strlen(word);
		}
		memcpy(before, word, LONGEST);
	}
	spelling.text[length] = 0;
	return spelling;
}

static bool has_about(const struct gp_gpu *gpu, unsigned gib)
{
	uint64_t said = gib * UINT64_C(1024) * MIB;

	return said >= gpu->capacity &&
	       said / 100 * (100 - MOST_OFF) <= gpu->capacity;
}

static bool is_spelled(const struct gp_gpu *gpu, const char *known,
		       const struct spelling *given)
{
	struct spelling own = normalize(known);

	return !strcmp(own.text, given->text) &&
	       (!given->gib || given->gib == own.gib ||
		has_about(gpu, given->gib));
}

/* The length of the common prefix of the given spelling and the device's name,
 * if one is a prefix of the other. */
static size_t shared(const struct gp_gpu *gpu, const struct spelling *given)
{
	struct spelling own = normalize(gpu->name);
	size_t a = strlen(own.text), b = strlen(given->text);
	size_t least = a < b ? a : b;

	return strncmp(own.text, given->text, least) ? 0 : least;
}

/* Lists the devices that a spelling could mean; false: there are none, or too
 * many. */
static bool hint_choices(const struct spelling *given, struct gp_diag *diag)
{
	const struct gp_gpu *choices[MOST_CHOICES + 1];
	size_t count = 0, most = 1, length = 0;
	char list[160] = "";

	for (size_t i = 0; i < COUNT; i++) {
		size_t same = shared(&table[i], given);

		if (same < most)
			continue;
		count = same > most ? 0 : count;
		most = same;
		if (count <= MOST_CHOICES)
			choices[count++] = &table[i];
	}
	if (!count || count > MOST_CHOICES)
		return false;
	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length,
					   "%s%s", i ? " or " : "",
					   choices[i]->name);
	gp_diag_hint(diag, "write %s", list);
	return true;
}

const struct gp_gpu *gp_gpu_find(const char *name, struct gp_diag *diag)
{
	struct spelling given = normalize(name);
	const struct gp_gpu *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < COUNT && *given.text; i++) {
		if (!is_spelled(&table[i], table[i].name, &given) &&
		    !is_spelled(&table[i], table[i].properties.name, &given))
			continue;
		found = &table[i];
		count++;
	}
	if (count == 1)
		return found;
	if (!hint_choices(&given, diag))
		gp_diag_hint(diag, HELP_LISTS);
	gp_diag_set(diag, GP_USAGE,
		    count ? "%.60s: there is more than one of that name"
			  : "%.60s: there is no such device",
		    name);
	return NULL;
}

/* ---- the memory of a device ---- */

/* A number without a unit is not taken for a size in bytes if it is smaller
 * than this. */
#define LEAST_BYTES MIB
#define MOST_GIB    1024

/* The unit was probably forgotten: a GPU's GiB, or nvidia-smi's MiB. */
static enum gp_status refuse_few(const char *text, uint64_t bytes,
				 struct gp_diag *diag)
{
	struct gp_diag none = { 0 };
	const struct gp_gpu *gpu = gp_gpu_find(text, &none);

	if (gpu)
		gp_diag_hint(diag, "write %s for that device", gpu->name);
	else
		gp_diag_hint(diag, "write %s%s", text,
			     bytes <= MOST_GIB ? "GiB" : "MiB");
	return gp_diag_set(diag, GP_USAGE,
			   "%s: the unit is missing: no GPU has so few "
			   "bytes",
			   text);
}

static enum gp_status refuse(const char *text, struct gp_diag *diag)
{
	if (gp_bytes_lacks_unit(text) && atof(text) > 0 &&
	    atof(text) <= MOST_GIB && strlen(text) < 9) {
		gp_diag_hint(diag, "write %.60sGiB", text);
		return gp_diag_set(diag, GP_USAGE, "%.60s: the unit is missing",
				   text);
	}
	gp_diag_hint(diag, "write a size such as 80GiB, a device such as "
			   "h100, or unlimited");
	return gp_diag_set(diag, GP_USAGE, "%.60s: not a size", text);
}

static enum gp_status parse_name(const char *text, uint64_t *bytes,
				 struct gp_diag *diag)
{
	const struct gp_gpu *gpu = gp_gpu_find(text, diag);

	if (!gpu)
		return strcmp(diag->hint, HELP_LISTS) ? GP_USAGE
						      : refuse(text, diag);
	*bytes = gpu->capacity;
	return GP_OK;
}

enum gp_status gp_capacity_parse(const char *text, uint64_t *bytes,
				 struct gp_diag *diag)
{
	uint64_t size;

	if (!strcasecmp(text, "unlimited")) {
		*bytes = GP_UNLIMITED;
		return GP_OK;
	}
	if (isalpha((unsigned char)*text))
		return parse_name(text, bytes, diag);
	if (!gp_bytes_parse(text, &size) || !size || size > INT64_MAX)
		return refuse(text, diag);
	if (size < LEAST_BYTES && gp_bytes_lacks_unit(text))
		return refuse_few(text, size, diag);
	*bytes = size;
	return GP_OK;
}
