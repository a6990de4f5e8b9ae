/* SPDX-License-Identifier: MIT */
/* Python's objects that ranks send each other: torch.distributed's
 * all_gather_object and its like. */
#ifndef SIMCUDA_PROGRAM_OBJECTS_H
#define SIMCUDA_PROGRAM_OBJECTS_H

/* Python that is run once PyTorch is imported. */
extern const char objects_script[];

#endif
