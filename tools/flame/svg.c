// SPDX-License-Identifier: GPL-2.0
/*
 * A flame graph as SVG, complete in itself, with the root on top: a graph that is deeper than a
 * screen begins with what is widest.  A reader without scripts (an image in a page) sees all of it;
 * with scripts it is as wide as the window, and can be searched and zoomed into, see svg.js.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "diff.h"
#include "order.h"
#include "output.h"
#include "text.h"

#define SVG_WIDTH	1200
#define SVG_SIDE	10	/* left and right of the frames */
#define SVG_TOP		78
#define SVG_ROW		16
#define SVG_CHARACTER	7.2	/* width of one, in pixels */
#define SVG_MAX_NAME	4096	/* bytes of a name that are shown */
#define SVG_SHADES	4
/* Narrower frames are left out: a ten-thousandth of all is an eighth of a pixel. */
#define SVG_MIN_SHARE	10000
/* What browsers can work with: of more frames, or bytes of frames, the narrowest are left out. */
#define SVG_MAX_FRAMES	30000
#define SVG_MAX_BYTES	9900000

/* Files beside this one, which tools/rooms.mk makes strings of */
extern const char svg_js[], svg_css[];

#define CHANGES	7

/*
 * The colours, which svg.css has by their classes: of the kinds of frames, and of changes between two
 * graphs.  @least: by how much of all, in percent, a frame's share has grown at least
 */
static const struct { const char *class, *legend; double least; } colours[FLAME_KINDS + CHANGES] = {
	[FLAME_USER] = { "u", "user" }, [FLAME_KERNEL] = { "k", "kernel" },
	[FLAME_INLINED] = { "i", "inlined" }, [FLAME_JIT] = { "j", "JIT" },
	[FLAME_UNKNOWN] = { "n", "no name" }, [FLAME_COMM] = { "c", "thread" },
	[FLAME_KINDS] = { "d6", "5 % more", 5 }, { "d5", "1 % more", 1 }, { "d4", "0.1 % more", 0.1 },
	{ "d3", "as before", -0.1 }, { "d2", "0.1 % less", -1 }, { "d1", "1 % less", -5 },
	{ "d0", "5 % less", -200 },
};

/*
 * struct picture - the frames that are shown, as text
 * @colours: those that occur, a bit each
 * @deepest: highest depth
 * @hidden: number of frames that are left out
 * @widest_hidden: total of the widest frame that is left out
 */
struct picture {
	char		*text;
	size_t		 size;
	unsigned int	 colours;
	u32		 deepest;
	size_t		 hidden;
	u64		 widest_hidden;
};

/*
 * Text in XML: what it cannot have (XML 1.0, 2.2), and what is not UTF-8, becomes U+FFFD; the ends of lines of a script
 * in a command become spaces.
 */
static void svg_put_text(const char *text, size_t characters, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t bytes = 0;

	for (; *s && characters; characters--) {
		unsigned int n = text_utf8_length(s);
		const char *escaped = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '>' ? "&gt;" :
				      *s == '"' ? "&quot;" : *s == '\'' ? "&#39;" :
				      *s == '\t' || *s == '\n' ? " " : NULL;

		if (escaped)
			fputs(escaped, out);
		else if (!n || text_utf8_is_control(s) || (n == 3 && !memcmp(s, "\xef\xbf", 2) &&
							   s[2] >= 0xbe))
			fputs("\xef\xbf\xbd", out);
		else
			fwrite(s, 1, n, out);
		s += n ?: 1;
		bytes += n ?: 1;
		if (bytes > SVG_MAX_NAME)
			break;
	}
}

static size_t text_characters(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t count = 0;

	for (; *s && count <= SVG_WIDTH; count++)
		s += text_utf8_length(s) ?: 1;
	return count;
}

/* Which colours there are, and what they mean. */
static void svg_put_legend(const struct picture *picture, FILE *out)
{
	unsigned int i, width, x = SVG_SIDE;

	fputs("<g id=\"legend\">\n", out);
	for (i = 0; i < FLAME_KINDS + CHANGES; i++) {
		if (!(picture->colours >> i & 1))
			continue;
		width = 30 + 7 * strlen(colours[i].legend);
		fprintf(out, "<svg class=\"%s\" x=\"%u\" y=\"60\" width=\"%u\" height=\"14\">"
			"<rect width=\"11\" height=\"11\"/><text class=\"info\" x=\"15\" y=\"10\">%s"
			"</text></svg>\n", colours[i].class, x, width, colours[i].legend);
		x += width;
	}
	fputs("</g>\n", out);
}

/* Write a line that says what was recorded. */
static void svg_put_facts(const struct graph *graph, const struct picture *picture, FILE *out)
{
	char count[32], *facts = graph_facts(graph);

	svg_put_text(facts, SVG_MAX_NAME, out);
	free(facts);
	if (picture->hidden) {
		text_count(picture->hidden, count, sizeof(count));
		fprintf(out, ", %s frames of at most %.2g%% not shown", count,
			100.0 * picture->widest_hidden / graph->node[0].total);
	}
	if (graph->is_diff)
		fputs(", compared by shares", out);
	if (*graph->stops) {
		fputs("; ", out);
		svg_put_text(graph->stops, 200, out);
	}
}

static void svg_put_head(const struct graph *graph, const struct picture *picture, FILE *out)
{
	int height = SVG_TOP + (picture->deepest + 1) * SVG_ROW + SVG_SIDE;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\" aria-labelledby=\"name desc\" data-total=\"%llu\" "
		"data-unit=\"", SVG_WIDTH, height, SVG_WIDTH, height,
		(unsigned long long)graph->node[0].total);
	svg_put_text(graph->unit, 100, out);
	fputs("\">\n<title id=\"name\">", out);
	svg_put_text(graph->cmdline, 1000, out);
	fprintf(out, "%slame graph</title>\n<desc id=\"desc\">", *graph->cmdline ? " - f" : "F");
	svg_put_facts(graph, picture, out);
	fprintf(out, "</desc>\n<style><![CDATA[\n%s]]></style>\n"
		"<rect id=\"back\" width=\"%d\" height=\"%d\"/>\n"
		"<text id=\"title\" x=\"%d\" y=\"24\">", svg_css, SVG_WIDTH, height, SVG_SIDE);
	svg_put_text(*graph->cmdline ? graph->cmdline : "Flame graph", 1000, out);
	fprintf(out, "</text>\n<text id=\"facts\" class=\"info\" x=\"%d\" y=\"44\">", SVG_SIDE);
	svg_put_facts(graph, picture, out);
	fputs("</text>\n", out);
	svg_put_legend(picture, out);
}

/* Index in @colours */
static unsigned int frame_colour(const struct graph *graph, size_t node)
{
	double change = graph_share(graph, node) - graph_share_before(graph, node);
	unsigned int i = FLAME_KINDS;

	if (!graph->is_diff)
		return node ? graph_name(graph, node)->kind : FLAME_COMM;
	while (i < FLAME_KINDS + CHANGES - 1 && change < colours[i].least)
		i++;
	return i;
}

static void svg_put_label(const struct graph *graph, size_t node, FILE *out)
{
	const char *module = node ? graph_module(graph, node) : "";

	svg_put_text(graph_text(graph, node), SVG_MAX_NAME, out);
	if (node && graph_name(graph, node)->line) {
		putc(' ', out);
		svg_put_text(graph_source(graph, node), 1000, out);
		fprintf(out, ":%u", graph_name(graph, node)->line);
	}
	if (*module) {
		fputs(" (", out);
		svg_put_text(module, 1000, out);
		putc(')', out);
	}
}

static void svg_put_frame(const struct graph *graph, size_t node, u64 start, unsigned int shade,
			  FILE *out)
{
	const struct graph_node *at = &graph->node[node];
	double scale = (double)(SVG_WIDTH - 2 * SVG_SIDE) / graph->node[0].total;
	double x = SVG_SIDE + start * scale, width = at->total * scale;
	int y = SVG_TOP + at->depth * SVG_ROW;
	const char *text = graph_text(graph, node);
	size_t fits = (width - 6) / SVG_CHARACTER > 2 ? (width - 6) / SVG_CHARACTER : 0;
	bool cut = text_characters(text) > fits;
	char count[32];

	text_count(at->total, count, sizeof(count));
	fprintf(out, "<g class=\"%s", colours[frame_colour(graph, node)].class);
	if (!graph->is_diff)
		fprintf(out, " s%u", shade);
	fprintf(out, "\" data-f=\"%llu,%llu,%u%s\"><title>", (unsigned long long)start,
		(unsigned long long)at->total, at->depth,
		node && *graph_module(graph, node) ? ",1" : "");
	svg_put_label(graph, node, out);
	fprintf(out, ": %s ", count);
	svg_put_text(graph->unit, 100, out);
	fprintf(out, ", %.2f %%", graph_share(graph, node));
	if (graph->is_diff)
		fprintf(out, ", before %.2f %%", graph_share_before(graph, node));
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>", x, y,
		width > 2 ? width - 0.5 : width, SVG_ROW - 1);
	if (fits) {
		fprintf(out, "<text x=\"%.2f\" y=\"%d\">", x + 3, y + 12);
		svg_put_text(text, cut ? fits - 1 : fits, out);
		fprintf(out, "%s</text>", cut ? "…" : "");
	}
	fputs("</g>\n", out);
}

/* The widest first; of equal ones those with the fewest callers: callers come before callees. */
static int frame_compare(const void *a, const void *b, void *graph)
{
	const struct graph_node *node = ((const struct graph *)graph)->node;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return order(node[y].total, node[x].total) ?: order(node[x].depth, node[y].depth) ?:
	       order(x, y);
}

/* A shade by the name, but not that of the caller, nor of the frame to the left. */
static unsigned int frame_shade(const struct graph *graph, size_t node, const u8 *last)
{
	const unsigned char *text = (const unsigned char *)graph_text(graph, node);
	u32 depth = graph->node[node].depth;
	unsigned int hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ *text) * 16777619;
	for (hash = (hash >> 13) % SVG_SHADES;; hash = (hash + 1) % SVG_SHADES)
		if (hash != last[depth] && (!depth || hash != last[depth - 1]))
			return hash;
}

/* Write @count frames of @widest, in the order of @graph.  Return: whether that is not too much. */
static bool svg_make_picture(const struct graph *graph, const u32 *widest, size_t count,
			     const u64 *start, struct picture *picture)
{
	u8 *shown = alloc_zero(graph->count, 1), *last = alloc_zero(graph->deepest + 1, 1);
	FILE *out;
	size_t i;

	*picture = (struct picture){ 0 };
	out = alloc_check(open_memstream(&picture->text, &picture->size), 1);
	memset(last, SVG_SHADES, graph->deepest + 1);
	for (i = 0; i < count; i++)
		shown[widest[i]] = true;
	for (i = 0; i < graph->count && ftell(out) < SVG_MAX_BYTES; i++) {
		const struct graph_node *node = &graph->node[i];

		if (shown[i]) {
			last[node->depth] = frame_shade(graph, i, last);
			svg_put_frame(graph, i, start[i], last[node->depth], out);
			picture->colours |= 1u << frame_colour(graph, i);
			if (node->depth > picture->deepest)
				picture->deepest = node->depth;
		} else if (node->total) {
			picture->hidden++;
			if (node->total > picture->widest_hidden)
				picture->widest_hidden = node->total;
		}
	}
	alloc_check(fclose(out) ? NULL : picture->text, 1);
	free(shown);
	free(last);
	return picture->size < SVG_MAX_BYTES;
}

/** output_svg() - write a graph as SVG */
void output_svg(const struct graph *graph, FILE *out)
{
	u32 *widest = alloc_array(NULL, graph->count, sizeof(*widest));
	u64 least = graph->node[0].total / SVG_MIN_SHARE ?: 1, *start = graph_starts(graph);
	struct picture picture;
	size_t i, count = 0;

	for (i = 0; i < graph->count; i++)
		if (graph->node[i].total >= least)
			widest[count++] = i;
	qsort_r(widest, count, sizeof(*widest), frame_compare, (void *)graph);
	count = count < SVG_MAX_FRAMES ? count : SVG_MAX_FRAMES;
	while (!svg_make_picture(graph, widest, count, start, &picture)) {
		free(picture.text);
		count -= count / 8;
	}
	svg_put_head(graph, &picture, out);
	fprintf(out, "<g id=\"frames\">\n%s</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n",
		picture.text, svg_js);
	free(picture.text);
	free(widest);
	free(start);
}
