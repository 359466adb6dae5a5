# SPDX-License-Identifier: GPL-2.0-only
# what: of what follows from a failed flush only the first piece is done
# file: ressd-repair.c
# breaks: 2
s/if (!distrust_moves(log))/if (!distrust_moves(log) \&\& 0)/
s/if (!distrust_kills(log))/if (!distrust_kills(log) \&\& 0)/
s/if (distrust_deaths(log))/if (distrust_deaths(log) || 1)/
