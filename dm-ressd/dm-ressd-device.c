// SPDX-License-Identifier: GPL-2.0-only
/*
 * I/O between the target's own buffers, which come from vmalloc, and its
 * devices.  By plain bios from a set of its own: dm_io() would do the same, but
 * its arguments and those of its callback have changed again and again, in
 * stable kernels as well.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>

#include "dm-ressd-base.h"

/*
 * Each bio is sent before the next one is taken, and ends by itself: so one in
 * reserve would do.
 */
#define RESERVED_BIOS	16

/*
 * Of one bio, also where pages are larger: a read may have to wait for one of
 * the mover's.
 */
#define MAX_BIO_BYTES	(BIO_MAX_VECS * RESSD_BLOCK_SIZE)

int ressd_init_bios(struct ressd *ressd)
{
	return bioset_init(&ressd->bios, RESERVED_BIOS, 0, BIOSET_NEED_BVECS);
}

void ressd_exit_bios(struct ressd *ressd)
{
	bioset_exit(&ressd->bios);
}

struct bio *ressd_alloc_bio(struct ressd *ressd, struct block_device *bdev,
			    blk_opf_t opf, sector_t sector, void *buffer,
			    size_t bytes)
{
	unsigned short pages;
	struct bio *bio;

	bytes = min_t(size_t, bytes, MAX_BIO_BYTES);
	pages = DIV_ROUND_UP(offset_in_page(buffer) + bytes, PAGE_SIZE);
	bio = bio_alloc_bioset(bdev, pages, opf, GFP_NOIO, &ressd->bios);
	bio->bi_iter.bi_sector = sector;
	for (; pages; pages--) {
		unsigned int offset = offset_in_page(buffer);
		unsigned int len = min_t(size_t, bytes, PAGE_SIZE - offset);

		__bio_add_page(bio, vmalloc_to_page(buffer), len, offset);
		buffer += len;
		bytes -= len;
	}
	return bio;
}

int ressd_rw(struct ressd *ressd, struct block_device *bdev, blk_opf_t opf,
	     sector_t sector, u32 nr_blocks, void *buffer)
{
	size_t done = 0, bytes = (size_t)nr_blocks * RESSD_BLOCK_SIZE;
	int ret = 0;

	flush_kernel_vmap_range(buffer, bytes);
	while (!ret && done < bytes) {
		struct bio *bio =
			ressd_alloc_bio(ressd, bdev, opf,
					sector + (done >> SECTOR_SHIFT),
					buffer + done, bytes - done);

		done += bio->bi_iter.bi_size;
		ret = submit_bio_wait(bio);
		bio_put(bio);
	}
	if (!op_is_write(opf))
		invalidate_kernel_vmap_range(buffer, bytes);
	/*
	 * One number for all: callers know others that mean something else,
	 * such as -ENODATA.
	 */
	return ret ? -EIO : 0;
}

int ressd_log_rw(struct ressd *ressd, blk_opf_t opf, u32 block, u32 nr,
		 void *buffer)
{
	return ressd_rw(ressd, ressd->reserved->bdev, opf,
			ressd_log_sector(ressd, block), nr, buffer);
}

void *ressd_vmalloc_noio(size_t bytes)
{
	unsigned int noio = memalloc_noio_save();
	void *memory = vmalloc(bytes);

	memalloc_noio_restore(noio);
	return memory;
}

int ressd_flush_devices(struct ressd *ressd)
{
	int ret = blkdev_issue_flush(ressd->normal->bdev);

	if (!ret && !ressd->same_dev)
		ret = blkdev_issue_flush(ressd->reserved->bdev);
	return ret;
}
