/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes gathered by LBA-bundle, for the two policies of IR: all held writes
 * that begin in the same bundle_sectors of the device form a bundle, led by the
 * one that came first.  Once a bundle is being written, ascending and at one
 * go, later writes begin a new one.
 *
 * Neighbours go as one request, unless they have to stay apart (CELLS of
 * ressd-split.h): the block layer merges only what is sent together, and of a
 * small depth that is one write or two.
 */
#ifndef RESSD_BUNDLES_H
#define RESSD_BUNDLES_H

#include "ressd-queue.h"

/*
 * Adds a write to its bundle.  False: it leads a new one, which has yet to be
 * put in a list.
 */
bool ressd_bundles_add(struct ressd_queue *queue,
		       struct ressd_request *request);

/* Begins to write the bundle, which is out of its list. */
void ressd_bundles_begin(struct ressd_queue *queue,
			 struct ressd_request *leader);

/* The next writes of the bundle that is being written, joined, or NULL. */
struct ressd_request *ressd_bundles_next(struct ressd_queue *queue);

/*
 * Both policies' take(): a bundle, or what is left to be written of one only
 * the request itself.
 */
void ressd_bundles_take(struct ressd_request *request,
			struct list_head *groups);

#endif
