// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits one kernel fault on request while it loads, so that the VM runner's self test can see the
 * runner notice it. Never loads: a second fault needs no rmmod.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

static char *kind = "none";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "fault to commit: warn, oops, hang or deaf");

static unsigned int hang_seconds = 10;
module_param(hang_seconds, uint, 0444);
MODULE_PARM_DESC(hang_seconds, "how long kind=hang sleeps uninterruptibly, kind=deaf runs without interrupts");

static int __init selftest_fault_init(void)
{
	if (!strcmp(kind, "warn")) {
		WARN(1, "asked for by the self test\n");
	} else if (!strcmp(kind, "oops")) {
		int *nowhere = NULL;

		WRITE_ONCE(*nowhere, 1);
	} else if (!strcmp(kind, "hang")) {
		schedule_timeout_uninterruptible(hang_seconds * HZ);
	} else if (!strcmp(kind, "deaf")) {
		local_irq_disable();
		mdelay(hang_seconds * MSEC_PER_SEC);
		local_irq_enable();
	} else {
		pr_err("kind=%s is no fault: give warn, oops, hang or deaf\n", kind);
		return -EINVAL;
	}
	return -ECANCELED;
}
module_init(selftest_fault_init);

MODULE_DESCRIPTION("Kernel faults on request, for the VM runner's self test");
MODULE_LICENSE("GPL");
