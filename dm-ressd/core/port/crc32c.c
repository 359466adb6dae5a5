// SPDX-License-Identifier: GPL-2.0-only
/*
 * crc32c (Castagnoli), eight bytes a step: by the processor's own instruction
 * where there is one, else with eight tables made at start.
 */
#include <linux/crc32c.h>
#include <linux/types.h>

#define POLYNOMIAL	0x82f63b78U	/* 0x1edc6f41 with its bits reversed */
#define SLICES		8

static u32 table[SLICES][256];

__attribute__((constructor)) static void make_tables(void)
{
	unsigned int slice, i, bit;

	for (i = 0; i < 256; i++) {
		u32 crc = i;

		/* Behind a condition gcc 12 for armhf loads half of it. */
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (-(crc & 1) & POLYNOMIAL);
		table[0][i] = crc;
	}
	for (slice = 1; slice < SLICES; slice++)
		for (i = 0; i < 256; i++)
			table[slice][i] = table[slice - 1][i] >> 8 ^
					  table[0][table[slice - 1][i] & 0xff];
}

static u32 load_le32(const unsigned char *p)
{
	return (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

u32 crc32c_by_tables(u32 crc, const void *data, unsigned int bytes)
{
	const unsigned char *p = data;

	for (; bytes >= SLICES; bytes -= SLICES, p += SLICES) {
		u32 low = load_le32(p) ^ crc;
		u32 high = load_le32(p + 4);

		crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
		      table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
		      table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
		      table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
	}
	while (bytes--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

#ifdef __x86_64__
__attribute__((target("sse4.2")))
static u32 by_instruction(u32 crc, const void *data, unsigned int bytes)
{
	const unsigned char *p = data;
	u64 step, crc64 = crc;
	u32 half;

	for (; bytes >= sizeof(step);
	     bytes -= sizeof(step), p += sizeof(step)) {
		__builtin_memcpy(&step, p, sizeof(step));
		crc64 = __builtin_ia32_crc32di(crc64, step);
	}
	crc = (u32)crc64;
	if (bytes >= sizeof(half)) {
		__builtin_memcpy(&half, p, sizeof(half));
		crc = __builtin_ia32_crc32si(crc, half);
		p += sizeof(half);
		bytes -= sizeof(half);
	}
	return crc32c_by_tables(crc, p, bytes);
}

u32 crc32c(u32 crc, const void *data, unsigned int bytes)
{
	if (__builtin_cpu_supports("sse4.2"))
		return by_instruction(crc, data, bytes);
	return crc32c_by_tables(crc, data, bytes);
}
#else
u32 crc32c(u32 crc, const void *data, unsigned int bytes)
{
	return crc32c_by_tables(crc, data, bytes);
}
#endif
