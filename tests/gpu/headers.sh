#!/bin/sh
# SPDX-License-Identifier: MIT
# What device/cuda declares of CUDA is what NVIDIA's headers say, where they
# are: in CUDA_HOME, else /usr/local/cuda.  And NVIDIA's runtime, where it is,
# has the functions that are called.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
failed=0

values() {
	cat <<- 'END'
		CUDA_OK cudaSuccess
		CUDA_OK CUDA_SUCCESS
		CUDA_OUT_OF_MEMORY cudaErrorMemoryAllocation
		CUDA_OUT_OF_MEMORY CUDA_ERROR_OUT_OF_MEMORY
		CUDA_OLD_DRIVER cudaErrorInsufficientDriver
		CUDA_NOT_SUPPORTED cudaErrorNotSupported
		CUDA_NOT_SUPPORTED CUDA_ERROR_NOT_SUPPORTED
		CUDA_NO_TIMING cudaEventDisableTiming
		CUDA_NON_BLOCKING cudaStreamNonBlocking
		CUDA_TO_DEVICE cudaMemcpyHostToDevice
		CUDA_TO_HOST cudaMemcpyDeviceToHost
		CUDA_PINNED CU_MEM_ALLOCATION_TYPE_PINNED
		CUDA_LOCATION_DEVICE CU_MEM_LOCATION_TYPE_DEVICE
		CUDA_READ_WRITE CU_MEM_ACCESS_FLAGS_PROT_READWRITE
		CUDA_ATTACH_GLOBAL cudaMemAttachGlobal
		CUDA_CAPABILITY_MAJOR cudaDevAttrComputeCapabilityMajor
		CUDA_CAPABILITY_MINOR cudaDevAttrComputeCapabilityMinor
		CUDA_POOL_FOLLOW_EVENTS cudaMemPoolReuseFollowEventDependencies
		CUDA_POOL_OPPORTUNISTIC cudaMemPoolReuseAllowOpportunistic
		CUDA_POOL_INTERNAL cudaMemPoolReuseAllowInternalDependencies
		CUDA_POOL_THRESHOLD cudaMemPoolAttrReleaseThreshold
		CUDA_POOL_RESERVED cudaMemPoolAttrReservedMemCurrent
		CUDA_POOL_RESERVED_HIGH cudaMemPoolAttrReservedMemHigh
		CUDA_POOL_USED cudaMemPoolAttrUsedMemCurrent
		CUDA_POOL_USED_HIGH cudaMemPoolAttrUsedMemHigh
		sizeof(cuda_addr) sizeof(CUdeviceptr)
		sizeof(cuda_addr) sizeof(CUmemGenericAllocationHandle)
		sizeof(struct,cuda_allocation) sizeof(CUmemAllocationProp)
		sizeof(struct,cuda_access) sizeof(CUmemAccessDesc)
		offsetof(struct,cuda_allocation,;type) offsetof(CUmemAllocationProp,;type)
		offsetof(struct,cuda_allocation,;location) offsetof(CUmemAllocationProp,;location)
		offsetof(struct,cuda_allocation,;flags) offsetof(CUmemAllocationProp,;allocFlags)
		offsetof(struct,cuda_access,;flags) offsetof(CUmemAccessDesc,;flags)
		offsetof(struct,cuda_location,;id) offsetof(CUmemLocation,;id)
		CUDA_PROPERTIES_NAME sizeof(((struct,cudaDeviceProp,*)0)->name)
		0 offsetof(struct,cudaDeviceProp,;name)
	END
}

# The calls that are needed, one per line.
functions() {
	sed -n 's/^	X(\([A-Za-z0-9_]*\),.*/\1/p' \
		"$root/src/device/cuda/cuda_calls.h"
}

headers() {
	if [ ! -r "$cuda/include/cuda_runtime_api.h" ]; then
		echo "skip cuda-headers: there are none in $cuda/include"
		return
	fi
	{
		printf '#include <%s>\n' stddef.h cuda.h cuda_runtime_api.h
		echo '#include "device/cuda/cuda_calls.h"'
		# A comma becomes a space there, except in ,; which is one
		# comma.
		values | sed 's/,;/@/g; s/,/~/g' |
			while read -r ours theirs; do
				echo "_Static_assert($ours == $theirs, \"$ours\");"
			done | sed 's/~/ /g; s/@/, /g'
		echo '_Static_assert(sizeof(struct cudaDeviceProp) <='
		echo '	CUDA_PROPERTIES_ENOUGH, "properties");'
	} > "$work/check.c"
	if "${CC:-gcc}" -std=c11 -I"$root/src" -I"$cuda/include" \
		-fsyntax-only "$work/check.c" 2> "$work/said"; then
		echo "ok cuda-headers"
	else
		echo "FAIL cuda-headers: $(grep -m 1 error "$work/said")"
		failed=1
	fi
}

runtime() {
	library=$(find -L "$cuda/lib" "$cuda/lib64" -name "libcudart.so.*" \
		2> /dev/null | head -n 1)
	if [ -z "$library" ]; then
		echo "skip cuda-runtime: there is none in $cuda"
		return
	fi
	if ! command -v nm > /dev/null; then
		echo "skip cuda-runtime: nm is not on this machine"
		return
	fi
	nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' > "$work/has"
	missing=$(functions | grep '^cuda' | grep -vxFf "$work/has" |
		tr '\n' ' ')
	if [ -z "$missing" ]; then
		echo "ok cuda-runtime"
	else
		echo "FAIL cuda-runtime: $library lacks $missing"
		failed=1
	fi
}

headers
runtime
exit "$failed"
