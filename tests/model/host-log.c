// SPDX-License-Identifier: GPL-2.0-only
/* The log worker: carries out one I/O of the log after the other; see dm-ressd-log-worker.c. */
#include <stdio.h>
#include <string.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include "host.h"
#include "ressd-record.h"

/* The header in what is about to be written, maybe a page with other records. */
static struct ressd_record_header *header_of(const struct ressd_io *io)
{
	return (void *)((u8 *)io->data +
			(size_t)(io->record->block - io->block) * RESSD_BLOCK_SIZE);
}

static void drop_unmaps(struct ressd_io *io)
{
	struct ressd_record_header *header = io->record->buffer;

	header->nr_unmaps = 0;
	ressd_record_seal(header);
	memmove(header_of(io), header, sizeof(*header));
}

static void trace_io(const struct host *host, const char *what)
{
	const struct ressd_io *io = &host->io;
	u32 i;

	if (!host->trace)
		return;
	if (io->kind != RESSD_IO_WRITE) {
		host_trace(host, "log %s %u + %u %s",
			   io->kind == RESSD_IO_FLUSH ? "flush" : "read", io->block, io->nr_blocks,
			   what);
		return;
	}
	if (!io->record) {
		host_trace(host, "summary at %u + %u %s", io->block, io->nr_blocks, what);
		return;
	}
	host_trace(host, "log record %llu (segment %llu) of %u + %u at %u + %u%s%s, tail %llu %s",
		   (unsigned long long)io->record->seq,
		   (unsigned long long)io->record->segment_seq, io->record->nr_maps,
		   io->record->nr_unmaps, io->block, io->nr_blocks, io->preflush ? " PREFLUSH" : "",
		   io->fua ? " FUA" : "", (unsigned long long)io->record->tail_seq, what);
	for (i = 0; i < (u32)io->record->nr_maps + io->record->nr_unmaps; i++)
		printf("%s%u", i == 0 ? "       map " : i == io->record->nr_maps ? " unmap " : " ",
		       le32_to_cpu(header_of(io)->entries[i].block));
	printf("\n");
}

static void submit_record(struct host *host)
{
	struct ressd_io *io = &host->io;

	host->io_write = disk_submit(&host->disk, layout_log_sector(&host->layout, io->block),
				     io->nr_blocks * BLOCK_SECTORS, io->data);
	host->io_stage = IO_WRITING;
}

/* What core does in pieces is done at once where the run does not say how large these are. */
void host_tidy(struct host *host)
{
	while (!host->config.step_nodes && ressd_log_tidy(&host->box.log))
		;
}

static void check_mode(struct host *host)
{
	if (host->box.log.mode == RESSD_MODE_FAIL && !host->disk.lossy)
		violation(host, "records count as lost, and no failed flush has taken anything");
}

/* @only_write: if there is an error, no flush has failed. */
static void io_done(struct host *host, int error, bool only_write)
{
	trace_io(host, error ? "fails" : "done");
	host->io_stage = IO_IDLE;
	host->io.only_write = only_write;
	ressd_log_done(&host->box.log, &host->io, error);
	check_mode(host);
	host_tidy(host);
	host_complete_waiters(host, !error && host->io.kind == RESSD_IO_WRITE);
	host_retry(host);
}

/* One flush on one disk, the normal area's first; on one disk one does. */
static void begin_flush(struct host *host, u32 disk)
{
	host->io_disk = disk;
	host->io_mark = disk_flush_begin(&host->disk);
	host->io_stage = IO_FLUSHING;
}

static void start_io(struct host *host)
{
	struct ressd_io *io = &host->io;
	bool at_rest = ressd_log_is_at_rest(&host->box.log);

	if (!ressd_log_next(&host->box.log, io)) {
		if (host->config.step_nodes) {
			ressd_log_tidy(&host->box.log);
			host_retry(host);
		}
		return;
	}
	if (at_rest)
		violation(host, "a log at rest, which nobody asks for an I/O, has one");
	if (io->kind == RESSD_IO_READ) {
		trace_io(host, "starts");
		host->io_stage = IO_READING;
		return;
	}
	if (io->kind == RESSD_IO_WRITE) {
		ressd_log_encode(&host->box.log, io);
		if (host->fault == FAULT_DROP_UNMAPS && io->record)
			drop_unmaps(io);
	}
	trace_io(host, "starts");
	if (io->kind == RESSD_IO_WRITE && !io->preflush)
		submit_record(host);
	else if (host->fault == FAULT_ONE_FLUSH)
		begin_flush(host, host->config.two_disks ? DISK_SECOND : DISK_BOTH);
	else
		begin_flush(host, host->config.two_disks ? DISK_FIRST : DISK_BOTH);
}

static void end_flush(struct host *host, bool error, u64 number)
{
	const struct ressd_io *io = &host->io;
	bool whole = io->kind == RESSD_IO_FLUSH;

	if (error)
		disk_flush_fail(&host->disk, host->io_disk, number);
	if (error && host->fault != FAULT_FLUSH_ERROR_DROPPED) {
		host_flush_failed(host);
		io_done(host, -EIO, false);
		return;
	}
	if (!error && host->fault != (whole ? FAULT_NO_FLUSH : FAULT_NO_PREFLUSH))
		disk_flush_end(&host->disk, host->io_mark, host->io_disk);
	if (host->io_disk == DISK_FIRST)
		begin_flush(host, DISK_SECOND);
	else if (whole)
		io_done(host, 0, false);
	else if (!ressd_log_may_write(&host->box.log) && host->fault != FAULT_PREFLUSH_BELIEVED)
		io_done(host, -EIO, false);
	else
		submit_record(host);
}

static void end_write(struct host *host, bool error, u64 number)
{
	if (error) {
		disk_fail(&host->disk, host->io_write, number);
		if (number % 3 == 0)
			submit_record(host);	/* tried again */
		else
			io_done(host, host->fault == FAULT_WRITE_ERROR_DROPPED ? 0 : -EIO, true);
	} else {
		disk_complete(&host->disk, host->io_write,
			      host->io.fua && host->fault != FAULT_NO_FUA);
		io_done(host, 0, true);
	}
}

/* A repair looks at what is there. */
static void end_read(struct host *host, bool error)
{
	struct ressd_io *io = &host->io;

	disk_read(&host->disk, layout_log_sector(&host->layout, io->block),
		  io->nr_blocks * BLOCK_SECTORS, io->data);
	io_done(host, error ? -EIO : 0, true);
}

void host_log_step(struct host *host, bool error, u64 number)
{
	switch (host->io_stage) {
	case IO_IDLE:
		start_io(host);
		break;
	case IO_FLUSHING:
		end_flush(host, error, number);
		break;
	case IO_WRITING:
		end_write(host, error, number);
		break;
	case IO_READING:
		end_read(host, error);
		break;
	}
	host_recover_step(host);
}
