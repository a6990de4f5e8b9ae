/* SPDX-License-Identifier: MIT */
/*
 * What plans ask for beside a Hopper (record/plans.h): each line of standard
 * input has the bytes that a plan asks for without the device, and the plan;
 * prints the bytes that it asks for with the device.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/plans.h"

int main(void)
{
	char line[8192];

	while (fgets(line, sizeof(line), stdin)) {
		char *plan;
		int64_t bytes = strtoll(line, &plan, 10);

		printf("%" PRId64 "\n",
		       gp_plans_beside_hopper(plan, strlen(plan), true, bytes));
	}
	return 0;
}
