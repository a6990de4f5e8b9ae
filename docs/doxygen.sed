# SPDX-License-Identifier: MIT
# Comments of the public headers as Doxygen wants them: what stands before a
# declaration, behind one, and at the head of the file.
/^\/\* SPDX/d
/^\/\* ----/d
1,/^ \*\//s|^/\*$|/** @file|
s|^\([[:space:]]*\)/\*\([^*]\)|\1/**\2|
s|^\([[:space:]]*\)/\*$|\1/**|
s|\([^[:space:]].*\)/\* |\1/**< |
