/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's page in which the log goes on, kept in RAM, so that a commit can
 * write all of it.
 *
 * Many devices program clustered pages of many blocks.  For a commit of two
 * blocks they read such a page, change it and program it elsewhere; a page that
 * is written whole need not be read.  So with log_rewrite a record that a flush
 * follows goes out with its page: before the record what stands there already,
 * byte for byte, and behind it zeroes, where the next records will stand.
 *
 * WHY NOTHING IS LOST BY IT
 *  - The blocks before the record get the contents that they have.  Whatever
 *    subset of the write survives a power cut, and however it is torn, each of
 *    their sectors reads the same.  (Databases rely on that when they write the
 *    last page of their write-ahead log again.)
 *  - Zeroes go only behind the head, to the end of the segment's blocks for
 *    records at most: never over a summary or another segment.  Nothing there
 *    counts, and nothing there is read.
 *  - The device programs that page anew for the record alone just as well.
 *  - If the write fails the device may be left with anything in the page.  Then
 *    the log goes out of service, and the repair writes the same again, page
 *    and all.
 *
 * What is kept is what the records in the page, one after the other from its
 * first block on, were when they were written.  It begins with a commit:
 * records that are merely full, or written at once by commit writethrough, are
 * copied only where one was before them.  Where it is not known (a page that
 * the log had begun before it was activated, or one that a segment's border
 * divides) records go out alone.
 *
 * Context: ressd_page_plan() under the lock of the log, with no I/O of the log
 * in flight; ressd_page_add() without it, as ressd_log_encode().
 */
#ifndef RESSD_PAGE_H
#define RESSD_PAGE_H

#include "ressd-log.h"

/*
 * Decides for the write @io of a record which page is kept from then on, and
 * whether it is written instead of the record alone.  @commit: a flush follows.
 */
void ressd_page_plan(const struct ressd_log *log, struct ressd_io *io,
		     bool commit);

/*
 * Puts the encoded record of @io into its page, and has @io write the page if
 * so decided.
 */
void ressd_page_add(struct ressd_log *log, struct ressd_io *io);

/*
 * Nothing is known of any page from now on: the record of the write that is
 * handed out is blank.
 */
void ressd_page_forget(struct ressd_log *log);

#endif
