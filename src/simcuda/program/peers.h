/* SPDX-License-Identifier: MIT */
/* Other processes that are recorded together with this one and use a device. */
#ifndef SIMCUDA_PROGRAM_PEERS_H
#define SIMCUDA_PROGRAM_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The shared folder; NULL: nothing is recorded. */
const char *peers_folder(void);

/* Announces that this process uses a device. */
void peers_announce(void);
/* The number of such processes, including this one. */
int peers_count(void);

bool peers_is_alive(int64_t process);

/* This process saved unknown values; whether any of the processes has. */
void peers_note_saved(void);
bool peers_have_saved(void);

#endif
