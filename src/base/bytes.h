/* SPDX-License-Identifier: MIT */
/* Sizes as people read and write them. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "512 B", "4.0 KiB", "11.4 GiB": three significant digits at most. */
#define GP_BYTES_TEXT 24
const char *gp_bytes_text(uint64_t bytes, char text[GP_BYTES_TEXT]);
/* The same, for use as an argument: the text lives until the enclosing block
 * ends. */
#define GP_BYTES(bytes) gp_bytes_text((bytes), (char[GP_BYTES_TEXT]){ 0 })

/* A difference: "+1.2 GiB", "-512 B" or "=". */
#define GP_BYTES_CHANGE (GP_BYTES_TEXT + 1)
const char *gp_bytes_change(uint64_t from, uint64_t to,
			    char text[GP_BYTES_CHANGE]);

/* "48GiB", "1536MiB", "1000": exact, as the command line accepts it. */
const char *gp_bytes_exact(uint64_t bytes, char text[GP_BYTES_TEXT]);

/* "12345678" -> "12,345,678". */
#define GP_COUNT_TEXT 32
const char *gp_count_text(uint64_t count, char text[GP_COUNT_TEXT]);
#define GP_COUNT(count) gp_count_text((count), (char[GP_COUNT_TEXT]){ 0 })

/* Parses "12345678", or the same as gp_count_text shows it; false for anything
 * else. */
bool gp_count_parse(const char *text, uint64_t *count);

/*
 * Parses "80GiB", "512 MiB", "1.5g", "85899345920" or "1e9"; false for anything
 * else. k, m, g and t are powers of 1024, followed by B, iB or nothing, as in
 * PyTorch's max_split_size_mb and in the usual names of a GPU's memory: 80GB is
 * 80GiB. Without a unit the number is in bytes and must be whole.
 */
bool gp_bytes_parse(const char *text, uint64_t *bytes);

/* Parses "2%" or "0.5 %"; false for anything else, and for signs. */
bool gp_percent_parse(const char *text, double *percent);

/* percent of whole, rounded down: 29 % of 100 is 29, although 0.29 * 100 is
 * less in binary. Saturates at UINT64_MAX. */
uint64_t gp_percent_of(uint64_t whole, double percent);

/* Whether the text is a number without a unit. */
bool gp_bytes_lacks_unit(const char *text);

#endif
