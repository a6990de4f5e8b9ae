/* SPDX-License-Identifier: MIT */
/* The version that --version prints. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define GP_VERSION "0.1.0"

#endif
