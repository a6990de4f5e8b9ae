/* SPDX-License-Identifier: MIT */
/* The helper process: PyTorch's allocator on top of src/simcuda, whose memory
 * is the engine's device at the other end of the socket. */
#ifndef ALLOCATOR_TORCH_HELPER_H
#define ALLOCATOR_TORCH_HELPER_H

#ifdef __cplusplus
extern "C" {
#endif

/* The main function of the helper: serves requests until the engine closes the
 * socket. */
int torch_helper_run(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
