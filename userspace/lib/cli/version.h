/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RESSD_VERSION_H
#define RESSD_VERSION_H

#define RESSD_TOOLS_VERSION	"0.1"

#endif
