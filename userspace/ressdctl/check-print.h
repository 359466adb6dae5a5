/* SPDX-License-Identifier: GPL-2.0-only */
/* The report of ressdctl check. */
#ifndef RESSDCTL_CHECK_PRINT_H
#define RESSDCTL_CHECK_PRINT_H

#include "log/check.h"
#include "offline.h"

void check_print_text(const struct log_check *check, const struct offline_area *area);
void check_print_json(const struct log_check *check, const struct offline_area *area);

#endif
