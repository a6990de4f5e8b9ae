/* SPDX-License-Identifier: MIT */
/* A communicator of NCCL. */
#ifndef SIMCUDA_PROGRAM_COMM_H
#define SIMCUDA_PROGRAM_COMM_H

#include "simcuda/program/exchange.h"

#define COMM_NAME 96

struct comm {
	int ranks, rank, device;
	char name[COMM_NAME]; /* of its mailbox; "": it is alone */
	unsigned children;
	struct line *line;	/* of its collectives */
	struct line **sends;	/* to each rank; NULL: none was sent yet */
	struct line **receives; /* from each */
};

/* The line to a rank, or from it; made when it is first asked for. */
struct line *comm_send_line(struct comm *comm, int peer);
struct line *comm_receive_line(struct comm *comm, int peer);

#endif
