/* What gpupool verify says, for a person. */
#ifndef CLI_VERIFY_TEXT_H
#define CLI_VERIFY_TEXT_H

#include <stdio.h>

#include "gpupool/trace.h"
#include "gpupool/verify.h"

/* One device's result.  PyTorch 2.ran was run where 2.asked was asked for,
 * which decides alike. */
void gp_verify_text(const struct gp_trace *trace, uint32_t device,
		    uint8_t asked, uint8_t ran,
		    const struct gp_verify_result *result, FILE *out);

#endif
