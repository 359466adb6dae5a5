/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of a disk as some power cut has left it, for recovery to read in place.
 *
 * A cut only notes what each sector holds.  Bytes are copied when they are to be read, and only
 * those of sectors that differ from what was last copied there; the checksum of a block is
 * computed anew only when its bytes have changed: __wrap_crc32c() answers core's calls for blocks
 * of the replica that was made current.  A build with MODEL_VERIFY computes all of it again and
 * compares.
 */
#ifndef MODEL_REPLICA_H
#define MODEL_REPLICA_H

#include "cut.h"

/* The linker (--wrap=crc32c) sends the calls of crc32c() here, and those of the other one there. */
u32 __wrap_crc32c(u32 crc, const void *data, unsigned int bytes);
u32 __real_crc32c(u32 crc, const void *data, unsigned int bytes);

/* One for each block, and for each offset in it that checksums begin at: 0, and behind a crc. */
struct known_crc {
	u32 seed, bytes, crc;		/* bytes 0: not known */
};

struct replica {
	u32 nr;				/* sectors */
	u32 log_first;			/* first one of the reserved area, behind the normal one */
	struct sector **held;
	struct sector **shown;		/* what the bytes are */
	u64 *weights;			/* what each sector adds to the hash */
	u8 *bytes;
	u64 hash, log_hash;		/* of the contents; of those of the reserved area */
	struct known_crc (*crcs)[2];	/* of every block */
	struct sector **wanted;		/* scratch of replica_cut(), one for each sector */
	u8 *keep;			/* what the last cut has decided */
	u32 nr_keep, max_keep;
};

void replica_init(struct replica *replica, u32 nr_sectors, u32 log_first);
void replica_free(struct replica *replica);

/* Core's checksums of blocks in this replica may come from memory from now on. */
void replica_make_current(struct replica *replica);

/* The bytes of @nr sectors from @first on, valid until the replica changes. */
void *replica_read(struct replica *replica, u32 first, u32 nr);

/* The replica becomes equal to @image. */
void replica_follow(struct replica *replica, const struct image *image);

/*
 * The replica, which has followed @disk's durable image since that last changed, becomes what @cut
 * leaves of @disk.
 */
void replica_cut(struct replica *replica, const struct disk *disk, const struct cut *cut);

/* What the replica holds, as an image that lives as long as the replica does not change. */
struct image replica_image(const struct replica *replica);

/* Aborts if bytes are not what they should be: whoever was to read has written. */
void replica_verify(const struct replica *replica);

#endif
