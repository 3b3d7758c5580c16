// SPDX-License-Identifier: GPL-2.0
/* Work on many ELF files in parallel, each in a child process, with a report for each. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "commands.h"
#include "each_file.h"
#include "messages.h"
#include "parallel.h"
#include "progress.h"

/* In a child: write the report, then a struct bee_error, which is empty if nothing failed. */
static void each_file_work(void *arg, size_t index, FILE *out)
{
	const struct each_file *each = arg;
	const struct input_file *file = &each->files->file[index];
	struct bee_error error = { 0 };
	int fd = -1;

	child_limit_memory(CHILD_MEMORY);
	if (file->why)
		error_set(&error, 0, "%s", file->why);
	else if ((fd = input_file_open(file, &error)) >= 0 &&
		 !each->work(each->arg, file, fd, out, &error))
		error = (struct bee_error){ 0 };
	if (fd >= 0)
		close(fd);
	fwrite(&error, sizeof(error), 1, out);
}

static void each_file_done(void *arg, size_t index, const void *data, size_t size,
			   const char *died)
{
	const struct each_file *each = arg;
	const struct input_file *file = &each->files->file[index];
	struct bee_error error = {};

	if (!died && size < sizeof(error))
		died = EACH_FILE_NO_RESULT;
	if (!died) {
		size -= sizeof(error);
		memcpy(&error, (const char *)data + size, sizeof(error));
		if (!error.text[0] && each->report_size && size != each->report_size)
			died = EACH_FILE_NO_RESULT;
	}
	if (died || error.text[0]) {
		progress_end();
		each->failed(each->arg, file, died ?: error.text, died);
	} else {
		each->done(each->arg, file, data, size);
	}
}

static void each_file_progress(void *arg, size_t ready, size_t index)
{
	const struct each_file *each = arg;

	progress_count(ready, each->files->count, each->files->file[index].path);
}

/**
 * each_file_run() - work on all files
 * @each: what to do with which files
 *
 * Return: EXIT_OK; or EXIT_FAILED, with a message, if there are no files or no child process can
 * be started.  Files that fail are left to @each->failed().
 */
int each_file_run(const struct each_file *each)
{
	const struct parallel parallel = {
		.count = each->files->count, .jobs = each->jobs, .arg = (void *)each,
		.work = each_file_work, .done = each_file_done, .progress = each_file_progress,
	};
	int ret;

	if (!parallel.count)
		return message_error(each->command, NULL,
				     "no x86-64 executable or shared object below what was named");
	ret = parallel_run(&parallel);
	progress_end();
	return ret ? message_error(each->command, "cannot start a process", strerror(errno)) :
		     EXIT_OK;
}

/**
 * each_file_status() - what a file that failed means for the exit status
 * @file: the file
 * @died: as in struct each_file
 *
 * Return: EXIT_OK if it was found below a directory, could be read, and did not crash the child:
 * such a file can have no table.  EXIT_FAILED otherwise.
 */
int each_file_status(const struct input_file *file, bool died)
{
	return died || !file->found || file->why ? EXIT_FAILED : EXIT_OK;
}
