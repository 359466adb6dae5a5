// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was measured, in a file; see resume.h.  Text, a line for each result, fields separated by
 * tabs:
 *
 *	ressd-probe-results 2
 *	device <what makes it the same measurement>
 *	written <bytes>
 *	spent <limit of bytes to write, at which a write was refused>
 *	filled <bytes of the region>
 *	finding <name> <numbers...> <method> <sentence>
 *	cell <name> <numbers...>
 *	rehearsal <numbers...>
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/new-file.h"
#include "resume.h"

#define HEADER		"ressd-probe-results 2"
#define LINE_TEXT	1024

/* The same device, region and way of measuring, or results cannot be mixed. */
static void describe(const struct probe *probe, char *text, size_t size)
{
	const char *model = hints_get(&probe->hints, "device/model");
	const char *name = hints_get(&probe->hints, "device/name");
	const char *serial = hints_get(&probe->hints, "device/serial");
	const char *reserved = probe->arguments.reserved;

	/* The mover's distance, and what is overwritten in the log, follow from its size. */
	snprintf(text, size, "%s/%s/%llu/%llu+%llu/%s/%d/%d%s%s", model ? model : name ? name : "",
		 serial ? serial : "", probe->dev.bytes, probe->planned.offset,
		 probe->planned.bytes, probe->arguments.write ? "write" : "read",
		 probe->arguments.quick, probe->arguments.thorough, reserved ? "/" : "",
		 reserved ? reserved : "");
}

static void save_findings(FILE *file, const struct survey *survey)
{
	int p;

	for (p = 0; p < NR_PARAMETERS; p++) {
		const struct finding *f = &survey->finding[p];

		if (f->status != STATUS_UNKNOWN)
			fprintf(file, "finding\t%s\t%d\t%d\t%llu\t%llu\t%llu\t%d\t%llu\t%.17g\t%llu\t%llu\t%u\t%llu\t%llu\t%s\t%s\n",
				parameter_name(p), f->status, f->confidence, f->value, f->low,
				f->high, f->has_phase, f->phase, f->effect, f->usual_ns,
				f->opening_ns, f->samples, f->ns, f->written,
				f->method ? f->method : "", f->why);
	}
}

static void save_cells(FILE *file, struct measurements *measurements)
{
	unsigned int cell;

	for (cell = 0; cell < session_nr_cells(); cell++) {
		const struct result *r = session_cell_result(measurements, cell);

		if (r->done)
			fprintf(file, "cell\t%s\t%d\t%d\t%llu\t%llu\t%llu\t%u\t%llu\t%llu\t%llu\t%llu\t%llu\n",
				session_cell_name(cell), r->steady, r->gets_slower, r->bandwidth,
				r->median_ns, r->worst_ns, r->spread_percent, r->ops, r->ns,
				r->total_bytes, r->total_ns, r->pause_ns);
	}
}

static void save_rehearsals(FILE *file, const struct measurements *measurements)
{
	int i;

	for (i = 0; i < NR_REHEARSALS; i++) {
		const struct rehearsal *r = &measurements->rehearsal[i];

		if (r->done && r->pieces)
			fprintf(file, "rehearsal\t%d\t%d\t%d\t%d\t%u\t%llu\t%llu\t%llu\t%u\t%u\t%u\t%llu\t%llu\t%llu\t%u\t%llu\t%u\t%d\n",
				i, r->steady, r->direct_is_least, r->pauses, r->size,
				r->direct_ns, r->log_ns, r->move_ns, r->gain_percent,
				r->spread_percent, r->direct_spread_percent, r->pieces, r->ns,
				r->written,
				r->visit_pieces, r->working_set, r->overwritten_percent,
				r->shares_log);
	}
}

static void save_all(FILE *file, struct probe *probe)
{
	char device[512];

	describe(probe, device, sizeof(device));
	fprintf(file, "%s\ndevice\t%s\nwritten\t%llu\n", HEADER, device,
		probe->session.measure->written);
	if (probe->session.measure->spent_limit)
		fprintf(file, "spent\t%llu\n", probe->session.measure->spent_limit);
	/* With --preserve the filling is undone at the end. */
	if (probe->session.filled && !probe->arguments.preserve)
		fprintf(file, "filled\t%llu\n", probe->session.measure->bytes);
	save_findings(file, &probe->session.survey);
	save_cells(file, &probe->session.measurements);
	save_rehearsals(file, &probe->session.measurements);
}

/* A new file in the same folder, by a name that nothing has: it replaces the old one as a whole. */
static FILE *create_next(const char *old, char *path)
{
	int fd;

	snprintf(path, PATH_MAX, "%s.XXXXXX", old);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	fchmod(fd, 0644);
	return fdopen(fd, "w");
}

void resume_save(struct probe *probe)
{
	char path[PATH_MAX];
	FILE *file;
	bool good;

	if (!probe->arguments.resume || probe->resume_failed)
		return;
	file = create_next(probe->arguments.resume, path);
	good = file;
	if (file) {
		save_all(file, probe);
		good = !ferror(file) && !fflush(file) && !fsync(fileno(file));
		good = !fclose(file) && good;
	}
	if (good && !rename(path, probe->arguments.resume))
		return;
	fprintf(stderr, "ressd-probe: cannot write %s: %s.\n", path, strerror(errno));
	if (file)
		unlink(path);
	probe->resume_failed = true;
}

/* The next field of a line, or "" at its end. */
static char *field(char **line)
{
	char *start = *line, *end = strpbrk(start, "\t\n");

	if (!end) {
		*line = start + strlen(start);
		return start;
	}
	*line = end + 1;
	*end = '\0';
	return start;
}

static u64 number(char **line)
{
	return strtoull(field(line), NULL, 10);
}

static bool load_finding(struct probe *probe, char *line)
{
	const char *name = field(&line);
	struct finding *f;
	int p = 0;

	while (p < NR_PARAMETERS && strcmp(parameter_name(p), name))
		p++;
	if (p == NR_PARAMETERS)
		return false;
	f = &probe->session.survey.finding[p];
	f->status = number(&line);
	f->confidence = number(&line);
	f->value = number(&line);
	f->low = number(&line);
	f->high = number(&line);
	f->has_phase = number(&line);
	f->phase = number(&line);
	f->effect = strtod(field(&line), NULL);
	f->usual_ns = number(&line);
	f->opening_ns = number(&line);
	f->samples = number(&line);
	f->ns = number(&line);
	f->written = number(&line);
	/* Lives as long as the program. */
	f->method = strdup(field(&line));
	snprintf(f->why, sizeof(f->why), "%s", field(&line));
	return f->method && f->why[0] && f->status <= STATUS_HINT &&
	       f->confidence <= CONFIDENCE_HIGH;
}

static bool load_cell(struct probe *probe, char *line)
{
	const char *name = field(&line);
	unsigned int cell = 0;
	struct result *r;

	while (cell < session_nr_cells() && strcmp(session_cell_name(cell), name))
		cell++;
	if (cell == session_nr_cells())
		return false;
	r = session_cell_result(&probe->session.measurements, cell);
	r->steady = number(&line);
	r->gets_slower = number(&line);
	r->bandwidth = number(&line);
	r->median_ns = number(&line);
	r->worst_ns = number(&line);
	r->spread_percent = number(&line);
	r->ops = number(&line);
	r->ns = number(&line);
	r->total_bytes = number(&line);
	r->total_ns = number(&line);
	r->pause_ns = number(&line);
	r->done = r->ops && r->total_ns;
	return r->done;
}

static bool load_rehearsal(struct probe *probe, char *line)
{
	const u64 index = number(&line);
	struct rehearsal *r;

	if (index >= NR_REHEARSALS)
		return false;
	r = &probe->session.measurements.rehearsal[index];
	r->steady = number(&line);
	r->direct_is_least = number(&line);
	r->pauses = number(&line);
	r->size = number(&line);
	r->direct_ns = number(&line);
	r->log_ns = number(&line);
	r->move_ns = number(&line);
	r->gain_percent = number(&line);
	r->spread_percent = number(&line);
	r->direct_spread_percent = number(&line);
	r->pieces = number(&line);
	r->ns = number(&line);
	r->written = number(&line);
	r->visit_pieces = number(&line);
	r->working_set = number(&line);
	r->overwritten_percent = number(&line);
	r->shares_log = number(&line);
	r->done = r->pieces && r->size == REHEARSAL_BYTES(index);
	return r->done;
}

static bool load_line(struct probe *probe, char *line)
{
	const char *word = field(&line);

	if (!strcmp(word, "finding"))
		return load_finding(probe, line);
	if (!strcmp(word, "cell"))
		return load_cell(probe, line);
	if (!strcmp(word, "rehearsal"))
		return load_rehearsal(probe, line);
	if (!strcmp(word, "written")) {
		probe->written = number(&line);
		return true;
	}
	if (!strcmp(word, "spent")) {
		probe->spent_limit = number(&line);
		return true;
	}
	if (strcmp(word, "filled"))
		return false;
	probe->session.filled = true;
	probe->region.bytes = number(&line);
	return probe->region.bytes >= REGION_MIN_BYTES &&
	       probe->region.bytes <= probe->planned.bytes && probe->region.bytes % 4096 == 0;
}

static int load_lines(struct probe *probe, FILE *file, struct failure *failure)
{
	const char *path = probe->arguments.resume;
	char line[LINE_TEXT], device[512], *rest;
	unsigned int count = 2;

	if (!fgets(line, sizeof(line), file) || strcmp(line, HEADER "\n"))
		return fail(failure, -EINVAL,
			    "%s is no file of results of this version of ressd-probe; name another one, or remove it",
			    path);
	describe(probe, device, sizeof(device));
	rest = fgets(line, sizeof(line), file) ? line : NULL;
	if (!rest || strcmp(field(&rest), "device") || strcmp(field(&rest), device))
		return fail(failure, -EINVAL,
			    "%s has results of another device, region, mode or --reserved; name another one, or remove it",
			    path);
	while (fgets(line, sizeof(line), file)) {
		count++;
		if (!load_line(probe, line))
			return fail(failure, -EINVAL,
				    "line %u of %s is damaged; remove it to measure anew", count,
				    path);
	}
	return 0;
}

int resume_load(struct probe *probe, struct failure *failure)
{
	FILE *file;
	int code;

	if (!probe->arguments.resume)
		return 0;
	file = regular_file_open(probe->arguments.resume, "the file of --resume", failure);
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	code = load_lines(probe, file, failure);
	fclose(file);
	return code;
}
