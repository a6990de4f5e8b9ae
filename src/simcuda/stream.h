/* Streams, and the work on them; called under the lock. */
#ifndef SIMCUDA_STREAM_H
#define SIMCUDA_STREAM_H

#include "simcuda/process.h"

struct stream {
	uint64_t handle;
	uint64_t issued, done; /* numbers of recorded events */
	uint64_t capture;      /* id; 0: not capturing */
	int priority;
};

/* A handle that was never seen is a stream all the same: programs may bring
 * their own numbers. */
uint32_t stream_index(uint64_t handle);
struct stream *stream_at(uint32_t index); /* until the next new one */

/* Something was launched, copied or recorded. */
void streams_work(void);
uint64_t streams_work_done(void);

void streams_set_events(enum simcuda_events when, uint64_t lag);
enum simcuda_events streams_events(void);
/* Whether what was recorded as the number-th on a stream, when so much work
 * had been issued, is complete. */
bool stream_is_done(uint32_t index, uint64_t number, uint64_t work);

#endif
