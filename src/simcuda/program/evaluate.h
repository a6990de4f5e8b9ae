/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's operators run on the processor, by PyTorch itself: in a thread of
 * their own, which has none of the program's modes, and whose turn comes while
 * the program's thread waits.
 */
#ifndef SIMCUDA_PROGRAM_EVALUATE_H
#define SIMCUDA_PROGRAM_EVALUATE_H

#include "simcuda/program/philox.h"
#include "simcuda/program/tensors.h"

/* Of an operator, of which there is a bit each. */
#define MOST_ARGUMENTS 26

/* What an operator does, by its schema. */
struct operator_facts {
	bool computes;	 /* something that arguments decide */
	bool is_silent;	 /* what it writes is told by others: collectives */
	bool writes_any; /* what it does not say that it writes */
	bool asks_size;	 /* reads how large its result is while it runs */
	bool is_scalar;	 /* _local_scalar_dense */
	bool is_random;	 /* it takes numbers of a generator */
	bool is_check;	 /* looks for numbers that are none, and finds few */
	bool asserts;	 /* its truths are true in a correct program */
	bool orders;	 /* where all its truths are asked for, they are true */
	bool denies;	 /* the truths that it reads are false there */
	bool succeeds;	 /* what it reads is 0 where it can be computed */
	bool finds_any;	 /* how many it finds is no less than 1 */
	bool samples;	 /* the first is true there, the others false */
	bool is_of_all;	 /* all() */
	bool counts;	 /* goes on from integers that nobody knows */
	bool is_by_element; /* its own kernels write no more than results */
	bool is_each; /* an element of its result hangs on those of its place,
		       * and some may be known */
	bool gives_places;  /* which are none twice, whatever it reads */
	bool is_one_number; /* its second argument, or else 0, everywhere */
	bool scales; /* adds to beta, the fourth argument, times the first */
	bool has_first_step; /* in which it does not read its third argument */
	bool saves_rest;     /* all results but the first, in their order */
	bool is_fresh;	     /* its results are none of its arguments */
	uint32_t writes;     /* arguments that it writes, a bit each */
	uint32_t arguments, returns; /* how many */
	struct operator_reads reads;
};

struct operator_name {
	const char *name, *overload;
};

/* False: nothing can be computed. */
bool evaluate_describe(const struct operator_name *name,
		       struct operator_facts *facts);

struct evaluated {
	enum {
		EVALUATED_NOTHING,
		EVALUATED_INT,
		EVALUATED_REAL,
		EVALUATED_BOOL,
		EVALUATED_TENSOR,
		EVALUATED_KEPT, /* an argument that it does not change */
	} kind;
	int64_t number;
	double real;
	struct shape shape; /* of a tensor; without addresses */
	const unsigned char *bytes;
	const unsigned char *known; /* a 1 for each byte that is; NULL: all */
};

struct evaluation {
	const struct operator_name *name;
	const struct argument *arguments;
	size_t argument_count;
	const struct generator *generator; /* as it was before */
	struct arena *arena;		   /* of the results */
	/* Those that are tensors in lists one by one, and then the arguments
	 * that it wrote; NULL: it cannot be done. */
	struct evaluated *results;
	size_t result_count;
	bool is_drawn; /* with random numbers that are not the generator's */
};
void evaluate(struct evaluation *evaluation);

/* Whether this is that thread. */
bool evaluate_is_here(void);

/* Once, with the right to run Python; false: nothing can be computed. */
bool evaluate_prepare(void);
/* Functionality that changes what a tensor's elements are: for tensors_set. */
uint64_t evaluate_not_plain(void);

#endif
