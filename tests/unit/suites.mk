# SPDX-License-Identifier: GPL-2.0-only
# The suites of tests/unit (test-NAME.c), and where they run.

# In userspace, with the sanitizers, and in the kernel, as KUnit suites (tests/kunit).
SUITES = port geom map regions route route-cost route-ram pattern pattern-runs pattern-batches pattern-units args record log log-sync log-space log-summary log-ram log-pages discard recover recover-summary repair distrust summary
SUITES += claims mover sweep step page padding keep cover split queue queue-pai queue-bundle units

# In userspace only:
SUITES_USERSPACE = bound	# prints results, which are computed in floating point
SUITES_USERSPACE += crc		# compares two implementations of core/port
SUITES_USERSPACE += shares	# reads recorded traces from files, prints results
SUITES_USERSPACE += unlocked	# looks on at each store, which only userspace allows
