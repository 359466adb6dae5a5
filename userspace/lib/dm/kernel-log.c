// SPDX-License-Identifier: GPL-2.0-only
/* Sentences of the target in the kernel log; see kernel-log.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include "dm/kernel-log.h"

#define RECORD_SIZE	8192	/* the longest that /dev/kmsg returns */

int kernel_log_mark(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Kernels from 5.18 on append " (-EINVAL)" to what a constructor said. */
static void cut_errno(char *sentence)
{
	size_t length = strlen(sentence);
	char *open = strrchr(sentence, '(');

	if (open && open > sentence && open[-1] == ' ' && length && sentence[length - 1] == ')' &&
	    !strncmp(open, "(-", 2))
		open[-1] = '\0';
}

/* The device number at the start of a message says nothing to the user. */
static char *skip_number(char *sentence)
{
	int length = 0;

	if (sscanf(sentence, "%*u:%*u: %n", &length) == 0 && length)
		sentence += length;
	return sentence;
}

/*
 * Of records that are warnings or worse.  A record is "priority,number,time,flags;text\n", maybe
 * with lines of details after that.  Texts of interest:
 *	device-mapper: ressd: 253:0: SENTENCE
 *	device-mapper: table: 253:0: ressd: SENTENCE (-EINVAL)
 * The target logs the first and sets the second, which is device-mapper's: after a sentence of its
 * own that only refers to it.
 */
const char *kernel_log_extract(char *record)
{
	char *text = strchr(record, ';');
	char *sentence;

	if (!text || (atoi(record) & 7) > LOG_WARNING)
		return NULL;
	text++;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "device-mapper: ", 15))
		return NULL;
	sentence = strstr(text, ": ressd: ");
	if (!sentence || strstr(sentence, "preresume failed, error =") ||
	    strstr(sentence, "refused for the reason logged above"))
		return NULL;
	sentence += strlen(": ressd: ");
	sentence = skip_number(sentence);
	cut_errno(sentence);
	return sentence;
}

bool kernel_log_sentence(int mark, char *sentence, size_t size)
{
	char record[RECORD_SIZE + 1];
	bool found = false;
	ssize_t length;

	if (mark < 0)
		return false;
	while ((length = read(mark, record, RECORD_SIZE)) > 0 || (length < 0 && errno == EPIPE)) {
		const char *text;

		if (length < 0)
			continue;	/* records were overwritten before we came to read them */
		record[length] = '\0';
		text = kernel_log_extract(record);
		if (text) {
			snprintf(sentence, size, "%s", text);
			found = true;
		}
	}
	close(mark);
	return found;
}
