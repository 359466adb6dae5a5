# SPDX-License-Identifier: GPL-2.0-only
# what: the UNMAPs of a summary are not applied
# file: ressd-recover.c
# breaks: 3
s/^		apply_unmap(log, le32_to_cpu(unmaps\[i\]));/		;/
