/* SPDX-License-Identifier: MIT */
/* The other processes that are recorded with this one and use a device. */
#ifndef SIMCUDA_PROGRAM_PEERS_H
#define SIMCUDA_PROGRAM_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folder that they share, or NULL: nothing is recorded. */
const char *peers_folder(void);

/* This one uses a device. */
void peers_announce(void);
/* How many do, this one included. */
int peers_count(void);

bool peers_is_alive(int64_t process);

/* This one saved values that nobody knows; whether one of them has. */
void peers_note_saved(void);
bool peers_have_saved(void);

#endif
