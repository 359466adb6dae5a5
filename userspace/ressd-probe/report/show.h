/* SPDX-License-Identifier: GPL-2.0-only */
/* What ressd-probe shows while it measures: a line on a terminal, or JSON for programs. */
#ifndef PROBE_SHOW_H
#define PROBE_SHOW_H

#include "probe.h"

/* Its context is a struct probe. */
extern const struct watcher show_watcher;

/* Clears the line. */
void show_end(const struct probe *probe);

#endif
