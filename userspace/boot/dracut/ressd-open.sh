#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dracut hook without systemd: opens what /etc/ressdtab of the initramfs has. It is called again while the
# root file system is missing, so a device may come late.
modprobe -q dm-ressd
/usr/sbin/ressdctl open --all
