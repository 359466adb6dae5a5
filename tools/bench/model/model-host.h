/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host for mover-model: threads that wait for one another, for the clock and for commands of one
 * drive, in virtual time.  The drive serves one command after the other, in the order in which they
 * were sent.  A thread runs until it waits; that takes no time, but a command takes the host's own
 * time for one (model-drive.c).
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include "model-drive.h"

struct model_host;

struct model_host *model_host_create(struct model_drive *drive, void *context);

/* Another thread, which gets the context. */
void model_host_thread(struct model_host *host, void (*run)(void *context));
/* Runs all of them until *end. */
void model_host_run(struct model_host *host, const bool *end);

u64 model_host_now(const struct model_host *host);	/* nanoseconds */

/* For threads: until a condition, which is asked after each event; until a time. */
void model_host_wait(struct model_host *host, bool (*condition)(void *context));
void model_host_sleep(struct model_host *host, u64 until);

/* Sends a command; *in_flight is one more until it has ended. */
enum model_command { MODEL_READ, MODEL_WRITE, MODEL_FLUSH };
void model_host_send(struct model_host *host, enum model_command what, u64 sector, u32 sectors,
		     u32 *in_flight);

#endif
