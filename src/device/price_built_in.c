/* SPDX-License-Identifier: MIT */
/*
 * The prices that ship: what public measurements say.  They rank settings, and
 * are no promise about a machine; --prices takes the machine's own.
 */
#include "gpupool/price.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define VMM                                                                    \
	"A100, 4096 pages of 2 MiB, mean: "                                    \
	"github.com/magnate3/linux-riscv-dev, nccl/gpu/shm/bench_vmm"
#define PAIR                                                                   \
	"half of the 31.2 ms that 1 GiB takes to be allocated and given back " \
	"without a pool: github.com/vortex-data/vortex/pull/7831"

static const struct gp_price rows[] = {
	{ GP_PRICE_MALLOC, MIB / 2, 50,
	  "about 50 us for each size from 4 KiB to 512 KiB: University of "
	  "Virginia, cs.virginia.edu/~mwb7w/cuda_support" },
	{ GP_PRICE_MALLOC, GIB, 15600, PAIR },
	{ GP_PRICE_FREE, 0, 14,
	  "at most: cudaMalloc, launch and cudaFree of a few bytes together, "
	  "RTX 2080 Ti: github.com/Cytnx-dev/Cytnx/pull/850" },
	{ GP_PRICE_FREE, GIB, 15600, PAIR },
	{ GP_PRICE_RESERVE, 0, 19,
	  "8 GB reserved on an A100: "
	  "github.com/magnate3/linux-riscv-dev, nccl/gpu/shm/bench_vmm" },
	{ GP_PRICE_UNRESERVE, 0, 0, "no public measurement: left out" },
	{ GP_PRICE_CREATE, 2 * MIB, 193.32, VMM },
	{ GP_PRICE_MAP, 2 * MIB, 1.45, VMM },
	{ GP_PRICE_ACCESS, 0, 35.99, VMM },
	{ GP_PRICE_UNMAP, 2 * MIB, 25.63, VMM },
	{ GP_PRICE_RELEASE, 0, 0, "no public measurement: left out" },
	{ GP_PRICE_SYNCHRONIZE, 0, 0,
	  "waits for what the device has still to do, which no trace tells: "
	  "left out" },
};

static const struct gp_prices built_in = {
	.name = "built in",
	.rows = rows,
	.count = sizeof(rows) / sizeof(*rows),
};

const struct gp_prices *gp_prices_built_in(void)
{
	return &built_in;
}
