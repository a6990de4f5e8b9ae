/* SPDX-License-Identifier: MIT */
/* The version that --version prints. */
#ifndef COMMANDS_VERSION_H
#define COMMANDS_VERSION_H

#define GP_VERSION "0.1.0"

#endif
