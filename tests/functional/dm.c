// SPDX-License-Identifier: GPL-2.0-only
/* Device-mapper by its ioctls; see dm.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "dm.h"
#include "output.h"

#define MAX_TEXT	512

struct request {
	struct dm_ioctl header;
	union {
		struct {
			struct dm_target_spec spec;
			char parameters[MAX_TEXT];
		} table;
		struct {
			struct dm_target_msg message;
			char text[MAX_TEXT];
		} message;
	};
};

static void start(struct request *request, const char *name)
{
	memset(request, 0, sizeof(*request));
	request->header.version[0] = DM_VERSION_MAJOR;
	request->header.data_size = sizeof(*request);
	request->header.data_start = offsetof(struct request, table);
	snprintf(request->header.name, sizeof(request->header.name), "%s", name);
}

static int try_call(struct request *request, unsigned long command)
{
	static int control = -1;

	if (control < 0)
		control = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		die(errno, "/dev/mapper/control cannot be opened");
	return ioctl(control, command, request) ? errno : 0;
}

static void call(struct request *request, unsigned long command, const char *what)
{
	int error = try_call(request, command);

	if (error)
		die(error, "the device-mapper device '%s' cannot be %s", request->header.name,
		    what);
}

static void node_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/dev/mapper/%s", name);
}

static void start_load(struct request *request, const char *name, uint64_t sectors,
		       const char *target, const char *parameters)
{
	start(request, name);
	request->header.target_count = 1;
	request->table.spec.length = sectors;
	snprintf(request->table.spec.target_type, sizeof(request->table.spec.target_type), "%s",
		 target);
	snprintf(request->table.parameters, sizeof(request->table.parameters), "%s", parameters);
}

static void start_message(struct request *request, const char *name, const char *text)
{
	start(request, name);
	snprintf(request->message.text, sizeof(request->message.text), "%s", text);
}

int dm_try_load(const char *name, uint64_t sectors, const char *target, const char *parameters)
{
	struct request request;

	start_load(&request, name, sectors, target, parameters);
	return try_call(&request, DM_TABLE_LOAD);
}

int dm_try_resume(const char *name)
{
	struct request request;

	start(&request, name);
	return try_call(&request, DM_DEV_SUSPEND);
}

int dm_try_message(const char *name, const char *text)
{
	struct request request;

	start_message(&request, name, text);
	return try_call(&request, DM_TARGET_MSG);
}

void dm_create(const char *name, uint64_t sectors, const char *target, const char *parameters)
{
	struct request request;
	char path[256];
	uint64_t number;

	start(&request, name);
	call(&request, DM_DEV_CREATE, "created");
	number = request.header.dev;
	start_load(&request, name, sectors, target, parameters);
	call(&request, DM_TABLE_LOAD, "given its table");
	dm_resume(name);

	/* The kernel's way to pack a number into 64 bits (huge_encode_dev()). */
	node_path(path, sizeof(path), name);
	unlink(path);
	if (mknod(path, S_IFBLK | 0600, makedev((number >> 8) & 0xfff,
						(number & 0xff) | ((number >> 12) & 0xfff00))))
		die(errno, "'%s' cannot be made", path);
}

void dm_remove(const char *name)
{
	struct request request;
	char path[256];

	start(&request, name);
	call(&request, DM_DEV_REMOVE, "removed");
	node_path(path, sizeof(path), name);
	unlink(path);
}

void dm_suspend(const char *name)
{
	struct request request;

	start(&request, name);
	request.header.flags = DM_SUSPEND_FLAG;
	call(&request, DM_DEV_SUSPEND, "suspended");
}

void dm_resume(const char *name)
{
	struct request request;

	start(&request, name);
	call(&request, DM_DEV_SUSPEND, "resumed");
}

void dm_status(const char *name, char *text, size_t size)
{
	struct request request;

	start(&request, name);
	call(&request, DM_TABLE_STATUS, "asked for its status");
	snprintf(text, size, "%s", request.table.parameters);
}

void dm_message(const char *name, const char *text)
{
	struct request request;

	start_message(&request, name, text);
	call(&request, DM_TARGET_MSG, "sent a message");
}
