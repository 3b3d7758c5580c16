// SPDX-License-Identifier: GPL-2.0
/* beectl verify: results of files, from child to parent and to people. */
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "messages.h"
#include "rows.h"
#include "rule_text.h"
#include "text.h"
#include "verify_report.h"

/**
 * struct verify_report - what has been found so far
 * @verbose: more lines
 * @json: the files; NULL for text
 * @sum: of all files
 * @count: files by what became of them
 */
struct verify_report {
	bool			 verbose;
	struct json_object	*json;
	struct compare_result	 sum;
	size_t			 count[__VERIFY_STATUS_MAX];
};

/**
 * verify_name_shown() - find out which functions the ranges shown are in
 * @elf: the file
 * @outcome: its @names are filled
 */
void verify_name_shown(const struct elf_file *elf, struct verify_outcome *outcome)
{
	const struct compare_result *r = &outcome->result;
	const char *name;
	u64 offset;
	size_t i;

	outcome->names = alloc_array(NULL, r->nshown + 1, sizeof(*outcome->names));
	memset(outcome->names, 0, r->nshown * sizeof(*outcome->names));
	for (i = 0; i < r->nshown; i++) {
		name = elf_find_symbol(elf, r->shown[i].start, &offset);
		if (name)
			snprintf(outcome->names[i], sizeof(*outcome->names), "%.80s+0x%llx", name,
				 (unsigned long long)offset);
	}
}

/**
 * verify_outcome_write() - write a result for the parent process
 * @outcome: the result
 * @out: where to
 */
void verify_outcome_write(const struct verify_outcome *outcome, FILE *out)
{
	const struct compare_result *r = &outcome->result;

	fwrite(outcome, sizeof(*outcome), 1, out);
	if (r->nshown) {
		fwrite(r->shown, sizeof(*r->shown), r->nshown, out);
		fwrite(outcome->names, sizeof(*outcome->names), r->nshown, out);
	}
	if (r->nforms)
		fwrite(r->forms, sizeof(*r->forms), r->nforms, out);
}

static void *take(const char **at, size_t n, size_t size)
{
	void *copy = alloc_array(NULL, n + 1, size);

	memcpy(copy, *at, n * size);
	*at += n * size;
	return copy;
}

/**
 * verify_outcome_read() - read what a child has written
 * @outcome: filled; verify_outcome_free() releases it
 * @data: the bytes
 * @size: how many
 *
 * Return: 0, or -1 if there is no whole result.
 */
int verify_outcome_read(struct verify_outcome *outcome, const void *data, size_t size)
{
	struct compare_result *r = &outcome->result;
	const char *at = data;

	if (size < sizeof(*outcome))
		return -1;
	memcpy(outcome, data, sizeof(*outcome));
	if (size != sizeof(*outcome) + r->nforms * sizeof(*r->forms) +
		    r->nshown * (sizeof(*r->shown) + sizeof(*outcome->names)))
		return -1;
	at += sizeof(*outcome);
	r->shown = take(&at, r->nshown, sizeof(*r->shown));
	outcome->names = take(&at, r->nshown, sizeof(*outcome->names));
	r->forms = take(&at, r->nforms, sizeof(*r->forms));
	return 0;
}

/**
 * verify_outcome_free() - release a result
 * @outcome: the result
 */
void verify_outcome_free(struct verify_outcome *outcome)
{
	compare_free(&outcome->result);
	free(outcome->names);
}

/**
 * verify_report_new() - begin to report
 * @json: as JSON
 * @verbose: more lines
 *
 * Return: what verify_report_end() releases.
 */
struct verify_report *verify_report_new(bool json, bool verbose)
{
	struct verify_report *report = alloc_array(NULL, 1, sizeof(*report));

	*report = (struct verify_report){ .verbose = verbose };
	if (json)
		report->json = json_object_new_array();
	return report;
}

static const char *status_name(enum verify_status status)
{
	static const char *const names[] = {
		[VERIFY_DONE] = "compared", [VERIFY_NO_CFI] = "no_cfi",
		[VERIFY_SKIPPED] = "skipped", [VERIFY_FAILED] = "failed",
	};

	return names[status];
}

static struct json_object *json_unsupported(const struct compare_result *r)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < r->nforms; i++) {
		struct json_object *form = json_object_new_object();

		json_add_string(form, "reason", rule_reason(r->forms[i].reason));
		json_add_string(form, "rules", r->forms[i].text);
		json_add_uint(form, "rows", r->forms[i].rows);
		json_add_uint(form, "bytes", r->forms[i].bytes);
		json_object_array_add(array, form);
	}
	return array;
}

static void json_add_result(struct json_object *object, const struct compare_result *r)
{
	json_add_uint(object, "rows", r->rows);
	json_add_uint(object, "frames", r->frames);
	json_add_uint(object, "pcs", r->pcs);
	json_add_uint(object, "text", r->text);
	json_add_uint(object, "no_fde", r->gaps);
	json_add_uint(object, "padding", r->padding);
	json_add_uint(object, "differences", r->differences);
	json_add_uint(object, "contradictory", r->contradictory);
	json_add_uint(object, "overlapping", r->overlaps);
	json_add_uint(object, "outside", r->outside);
	json_add(object, "unsupported", json_unsupported(r));
}

static const char *const doubts[] = {
	[COMPARE_NO_DOUBT] = "", [COMPARE_OVERLAP] = "FDEs overlap",
	[COMPARE_UNLISTED] = "FDE is not in .eh_frame_hdr",
};

static struct json_object *json_shown(const struct verify_outcome *outcome)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < outcome->result.nshown; i++) {
		const struct compare_range *range = &outcome->result.shown[i];
		struct json_object *object = json_object_new_object();

		json_add_uint(object, "start", range->start);
		json_add_uint(object, "end", range->end);
		json_add_string(object, "symbol", outcome->names[i]);
		json_add_string(object, "doubt", doubts[range->doubt]);
		json_add_string(object, "libdw", range->oracle);
		json_add_string(object, "table", range->table);
		json_object_array_add(array, object);
	}
	return array;
}

static void json_add_file(struct json_object *array, const char *path,
			  const struct verify_outcome *outcome)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "path", path);
	json_add_string(object, "status", status_name(outcome->status));
	if (outcome->status != VERIFY_DONE)
		json_add_string(object, "why", outcome->why);
	json_add_result(object, &outcome->result);
	json_add(object, "shown", json_shown(outcome));
	json_object_array_add(array, object);
}

/* Rules as "dump --rows" prints them, with commas for tabs. */
static void print_rules(const char *rules)
{
	for (; *rules; rules++)
		if (*rules == '\t')
			fputs(", ", stdout);
		else
			putchar(*rules);
}

static void print_range(const char *path, const struct compare_range *range, const char *name)
{
	text_put_name(stdout, path);
	printf(": 0x%llx-0x%llx", (unsigned long long)range->start,
	       (unsigned long long)range->end);
	if (*name) {
		fputs(" (", stdout);
		text_put_name(stdout, name);
		putchar(')');
	}
	printf(": %s%slibdw: ", doubts[range->doubt], range->doubt ? "; " : "");
	print_rules(range->oracle);
	printf("; table: ");
	print_rules(range->table);
	putchar('\n');
}

static void print_file(const char *path, const struct verify_outcome *outcome, bool verbose)
{
	const struct compare_result *r = &outcome->result;
	size_t i;

	for (i = 0; i < r->nshown; i++)
		print_range(path, &r->shown[i], outcome->names[i]);
	if (!verbose && !r->differences)
		return;
	text_put_name(stdout, path);
	if (outcome->status == VERIFY_DONE || r->differences)
		printf(": %llu rows, %llu pcs, %llu differences\n", (unsigned long long)r->rows,
		       (unsigned long long)r->pcs, (unsigned long long)r->differences);
	else
		printf(": %s\n", outcome->why);
}

/**
 * verify_report_add() - report a file
 * @report: the report
 * @path: of the file
 * @outcome: what was found
 */
void verify_report_add(struct verify_report *report, const char *path,
		       const struct verify_outcome *outcome)
{
	report->count[outcome->status]++;
	compare_add(&report->sum, &outcome->result);
	if (outcome->status == VERIFY_FAILED)
		message_error("verify", path, outcome->why);
	if (report->json)
		json_add_file(report->json, path, outcome);
	else
		print_file(path, outcome, report->verbose);
}

static void print_figure(const char *name, u64 value)
{
	printf("%-16s%12llu", name, (unsigned long long)value);
}

static int compare_forms(const void *a, const void *b)
{
	const struct compare_form *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void print_unsupported(const struct verify_report *report)
{
	const struct compare_result *sum = &report->sum;
	u64 rows = 0, bytes = 0;
	size_t i;

	for (i = 0; i < __BEE_UNSUP_MAX; i++) {
		rows += sum->unsupported[i];
		bytes += sum->unsupported_bytes[i];
	}
	print_figure("unsupported", rows);
	printf("  rows: %llu bytes, %.6f %% of the text\n", (unsigned long long)bytes,
	       percent(bytes, sum->text));
	for (i = 0; i < __BEE_UNSUP_MAX; i++) {
		if (!sum->unsupported[i])
			continue;
		printf("  ");
		print_figure(rule_reason(i), sum->unsupported[i]);
		printf("  %llu bytes, %.6f %%\n", (unsigned long long)sum->unsupported_bytes[i],
		       percent(sum->unsupported_bytes[i], sum->text));
	}
	for (i = 0; report->verbose && i < sum->nforms; i++) {
		printf("  %s, %llu rows, %llu bytes: ", rule_reason(sum->forms[i].reason),
		       (unsigned long long)sum->forms[i].rows,
		       (unsigned long long)sum->forms[i].bytes);
		print_rules(sum->forms[i].text);
		putchar('\n');
	}
}

static void print_total(const struct verify_report *report)
{
	const struct compare_result *sum = &report->sum;

	print_figure("files", report->count[VERIFY_DONE]);
	if (report->count[VERIFY_NO_CFI])
		printf("  and %zu without unwind information", report->count[VERIFY_NO_CFI]);
	if (report->count[VERIFY_SKIPPED])
		printf("  (%zu skipped)", report->count[VERIFY_SKIPPED]);
	if (report->count[VERIFY_FAILED])
		printf("  (%zu failed)", report->count[VERIFY_FAILED]);
	putchar('\n');
	print_figure("rows", sum->rows);
	putchar('\n');
	print_figure("pcs compared", sum->pcs);
	printf("  in %llu bytes of text\n", (unsigned long long)sum->text);
	print_figure("no FDE", sum->gaps);
	printf("  bytes, of them %llu padding between functions\n",
	       (unsigned long long)sum->padding);
	print_unsupported(report);
	print_figure("contradictory", sum->contradictory);
	printf("  pcs; FDEs overlap in %llu bytes, %llu describe no text\n",
	       (unsigned long long)sum->overlaps, (unsigned long long)sum->outside);
	print_figure("differences", sum->differences);
	putchar('\n');
}

static void report_print_json(struct verify_report *report)
{
	struct json_object *object = json_object_new_object();
	struct json_object *total = json_object_new_object();
	size_t i;

	for (i = 0; i < __VERIFY_STATUS_MAX; i++)
		json_add_uint(total, status_name(i), report->count[i]);
	json_add_result(total, &report->sum);
	json_add(object, "files", report->json);
	json_add(object, "total", total);
	json_print(object);
}

/**
 * verify_report_end() - report the sum, and release the report
 * @report: the report
 *
 * Return: true if there is no difference and nothing has failed.
 */
bool verify_report_end(struct verify_report *report)
{
	bool good = !report->sum.differences && !report->count[VERIFY_FAILED];

	if (report->sum.nforms)
		qsort(report->sum.forms, report->sum.nforms, sizeof(*report->sum.forms),
		      compare_forms);
	if (report->json)
		report_print_json(report);
	else
		print_total(report);
	compare_free(&report->sum);
	free(report);
	return good;
}
