/* SPDX-License-Identifier: MIT */
/* One setting: its value, checked and put into struct gp_settings. */
#ifndef ALLOCATOR_CONF_KNOB_H
#define ALLOCATOR_CONF_KNOB_H

#include "allocator/conf_tokens.h"

/* at: of the key; then of the value's last token. */
enum gp_status gp_conf_read_knob(struct gp_conf *conf,
				 const struct gp_knob *knob, size_t *at);

#endif
