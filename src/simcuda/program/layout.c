/*
 * The table: as g++ lays out the class of c10/cuda/CUDACachingAllocator.h of
 * each release's wheel (a pointer to a virtual member tells its slot).
 */
#include "simcuda/program/layout.h"

#include <stddef.h>

static const struct layout table[] = {
	{ 2, 7, 8, 9, 10, 13, 15, 16, 20, 26, 0 },
	{ 3, 9, 10, 11, 12, 15, 17, 18, 22, 28, 0 },
	{ 4, 9, 10, 11, 12, 15, 17, 18, 22, 28, 0 },
	{ 5, 9, 10, 11, 12, 15, 17, 18, 22, 30, 0 },
	{ 6, 9, 10, 12, 13, 18, 20, 21, 25, 35, 0 },
	{ 7, 9, 10, 12, 13, 18, 20, 21, 25, 35, 0 },
	{ 8, 9, 10, 12, 13, 18, 20, 21, 25, 38, 48 },
	{ 9, 15, 6, 17, 7, 22, 10, 11, 26, 39, 48 },
	{ 10, 16, 6, 18, 7, 24, 10, 11, 28, 44, 48 },
	{ 11, 16, 6, 18, 7, 24, 10, 11, 28, 44, 48 },
	{ 12, 16, 6, 18, 7, 24, 10, 11, 28, 46, 48 },
	{ 13, 16, 6, 18, 7, 24, 10, 11, 30, 48, 48 },
	{ 14, 16, 6, 18, 7, 24, 10, 11, 30, 50, 48 },
	{ 15, 16, 6, 18, 7, 24, 10, 11, 30, 50, 48 },
};

const struct layout *layout_of(unsigned release)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].release == release)
			return &table[i];
	return NULL;
}
