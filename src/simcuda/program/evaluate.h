/* SPDX-License-Identifier: MIT */
/*
 * Runs PyTorch's operators on the processor, with PyTorch itself: in a thread
 * of its own that has none of the program's modes, while the program's thread
 * waits.
 */
#ifndef SIMCUDA_PROGRAM_EVALUATE_H
#define SIMCUDA_PROGRAM_EVALUATE_H

#include "simcuda/program/philox.h"
#include "simcuda/program/tensors.h"

/* The most arguments of an operator: each has a bit in masks. */
#define MOST_ARGUMENTS 26

/* The properties of an operator, from its schema and from the tables in
 * evaluate.py. */
struct operator_facts {
	bool computes;	 /* its result depends on its arguments */
	bool is_silent;	 /* a collective: its results are reported elsewhere */
	bool writes_any; /* writes arguments that its schema does not mark */
	bool asks_size;	 /* reads the size of its result while it runs */
	bool is_scalar;	 /* _local_scalar_dense */
	bool is_random;	 /* takes numbers from a generator */
	bool is_check;	 /* looks for NaN and infinity, which are rare */
	bool asserts;	 /* its truths are true in a correct program */
	bool orders;	 /* its truths are true if the program asks for all() */
	bool denies;	 /* the truths that it reads are false there */
	bool succeeds;	 /* what it reads is 0 if the computation succeeds */
	bool finds_any;	 /* finds at least one */
	bool samples;	 /* the first truth it reads is true, others false */
	bool is_of_all;	 /* all() */
	bool counts;	 /* goes on from unknown integers */
	bool is_by_element; /* its kernels write nothing but its results */
	bool is_each; /* each element depends only on those at its place, so
		       * some may be known */
	bool gives_places;  /* returns distinct places, whatever it reads */
	bool is_one_number; /* fills with its second argument, or else 0 */
	bool scales; /* adds to beta, its fourth argument, times the first */
	bool has_first_step; /* has a first step that does not read its third
			      * argument */
	bool saves_rest;     /* saves all results but the first, in order */
	bool is_fresh;	     /* its results are none of its arguments */
	bool stands_in;	     /* launches its kernel in place of its caller's */
	uint32_t writes;     /* bit set of the arguments that it writes */
	uint32_t asserted;   /* and of those that its kernel asserts something
			      * about */
	uint32_t arguments, returns; /* how many */
	struct operator_reads reads;
};

struct operator_name {
	const char *name, *overload;
};

/* false: nothing can be computed. */
bool evaluate_describe(const struct operator_name *name,
		       struct operator_facts *facts);

struct evaluated {
	enum {
		EVALUATED_NOTHING,
		EVALUATED_INT,
		EVALUATED_REAL,
		EVALUATED_BOOL,
		EVALUATED_TENSOR,
		EVALUATED_KEPT, /* an argument, unchanged */
	} kind;
	int64_t number;
	double real;
	struct shape shape; /* of a tensor; without addresses */
	const unsigned char *bytes;
	const unsigned char *known; /* a 1 for each known byte; NULL: all are */
	bool is_doubted;	    /* a device's result may differ */
};

struct evaluation {
	const struct operator_name *name;
	const struct argument *arguments;
	size_t argument_count;
	const struct generator *generator; /* its state before the operator */
	struct arena *arena;		   /* of the results */
	/* The results, with those in lists one by one, followed by the
	 * arguments that the operator wrote. NULL: it could not be computed. */
	struct evaluated *results;
	size_t result_count;
	bool is_drawn; /* used random numbers other than the generator's */
};
void evaluate(struct evaluation *evaluation);
/* Whether an assertion of the operator's kernel fails on a device; it is not
 * computed. */
bool evaluate_fails(struct evaluation *evaluation);

/* Whether the calling thread is that thread. */
bool evaluate_is_here(void);

/* To be called once, holding the GIL; false: nothing can be computed. */
bool evaluate_prepare(void);
const struct torch_keys *evaluate_keys(void);

#endif
