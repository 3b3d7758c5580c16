// SPDX-License-Identifier: GPL-2.0
/*
 * A flame graph as SVG, complete in itself.  A reader without scripts (an image in a page) sees the
 * whole graph; with scripts it can be searched and zoomed into, see svg_script.c.
 */
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "output.h"
#include "svg_script.h"
#include "text.h"

#define SVG_WIDTH	1200
#define SVG_SIDE	10	/* left and right of the frames */
#define SVG_TOP		78
#define SVG_BOTTOM	40
#define SVG_ROW		16
#define SVG_CHARACTER	7.2	/* width of one, in pixels */
#define SVG_MAX_NAME	4096	/* bytes of a name that are shown */
#define SVG_SHADES	4
/* Narrower frames are left out: a ten-thousandth of all is an eighth of a pixel. */
#define SVG_MIN_SHARE	10000

static const struct { const char *letter, *legend; } kinds[FLAME_KINDS] = {
	[FLAME_USER] = { "u", "user" }, [FLAME_KERNEL] = { "k", "kernel" },
	[FLAME_INLINED] = { "i", "inlined" }, [FLAME_JIT] = { "j", "JIT" },
	[FLAME_UNKNOWN] = { "n", "no name" }, [FLAME_COMM] = { "c", "thread" },
};

/* By how much of all, at least, a frame's share has changed; each has a colour. */
static const struct { const char *class, *legend; double least; } changes[] = {
	{ "d6", "5 % more", 5 }, { "d5", "1 % more", 1 }, { "d4", "0.1 % more", 0.1 },
	{ "d3", "as before", -0.1 }, { "d2", "0.1 % less", -1 }, { "d1", "1 % less", -5 },
	{ "d0", "5 % less", -200 },
};

#define CHANGES	(sizeof(changes) / sizeof(changes[0]))

/* Text in XML: what it cannot have (XML 1.0, 2.2), and what is not UTF-8, becomes U+FFFD. */
static void svg_put_text(const char *text, size_t characters, FILE *out)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t bytes = 0;

	for (; *s && characters; characters--) {
		unsigned int n = text_utf8_length(s);
		const char *escaped = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '>' ? "&gt;" :
				      *s == '"' ? "&quot;" : *s == '\'' ? "&#39;" : NULL;

		if (!n || text_utf8_is_control(s) || (n == 3 && !memcmp(s, "\xef\xbf", 2) &&
						      s[2] >= 0xbe))
			fputs("\xef\xbf\xbd", out);
		else if (escaped)
			fputs(escaped, out);
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

static void svg_put_style(FILE *out)
{
	static const struct { const char *letter; int hue, saturation, light, dark; } colours[] = {
		{ "u", 24, 82, 64, 40 }, { "k", 205, 62, 68, 38 }, { "i", 110, 40, 64, 34 },
		{ "j", 285, 45, 74, 42 }, { "n", 0, 0, 78, 36 }, { "c", 45, 55, 78, 30 },
	};
	size_t i, shade;

	fputs("<style>\n"
	      "text{font:12px ui-monospace,monospace;fill:#111}\n"
	      "#title{font:bold 17px sans-serif}.info{font:12px sans-serif}\n"
	      ".button{cursor:pointer;text-decoration:underline}\n"
	      "svg{background:#fff}#back{fill:#fff}#frames g{cursor:pointer}#frames rect{rx:1}\n"
	      "#frames g:focus{outline:none}#frames g.at rect{stroke:#000;stroke-width:1.5}\n"
	      "#frames g.above{opacity:.55}#frames g.hit rect{fill:#e0218a}\n"
	      "#frames g.hit text{fill:#fff}#frames text{pointer-events:none}\n", out);
	for (i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		for (shade = 0; shade < SVG_SHADES; shade++)
			fprintf(out, ".%s%zu rect{fill:hsl(%d,%d%%,%d%%)}", colours[i].letter, shade,
				colours[i].hue + 6 * (int)shade, colours[i].saturation,
				colours[i].light + 3 * (int)shade);
	fputs(".d6 rect{fill:#e8462c}.d5 rect{fill:#f48a72}.d4 rect{fill:#f9c4b8}.d3 rect{fill:#ddd}"
	      ".d2 rect{fill:#c3d6f2}.d1 rect{fill:#8bb0e6}.d0 rect{fill:#4a84d8}", out);
	fputs("\n@media(prefers-color-scheme:dark){text{fill:#eee}svg{background:#181818}"
	      "#back{fill:#181818}#frames g.at rect{stroke:#fff}", out);
	for (i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		for (shade = 0; shade < SVG_SHADES; shade++)
			fprintf(out, ".%s%zu rect{fill:hsl(%d,%d%%,%d%%)}", colours[i].letter, shade,
				colours[i].hue + 6 * (int)shade, colours[i].saturation / 2 + 10,
				colours[i].dark + 2 * (int)shade);
	fputs(".d6 rect{fill:#b3311c}.d5 rect{fill:#8c3c2d}.d4 rect{fill:#64413a}.d3 rect{fill:#444}"
	      ".d2 rect{fill:#3b4757}.d1 rect{fill:#2f517f}.d0 rect{fill:#2360b4}", out);
	fputs("}\n</style>\n", out);
}

/* One colour and what it means.  Return: where the next one goes. */
static int svg_put_colour(const char *class, const char *legend, int x, FILE *out)
{
	fprintf(out, "<g class=\"%s\"><rect x=\"%d\" y=\"60\" width=\"11\" height=\"11\"/>"
		"<text class=\"info\" x=\"%d\" y=\"70\">%s</text></g>\n", class, x, x + 15, legend);
	return x + 30 + 7 * (int)strlen(legend);
}

static void svg_put_legend(const struct graph *graph, FILE *out)
{
	int i, x = SVG_SIDE;
	char class[4];

	fputs("<g id=\"legend\">\n", out);
	for (i = 0; graph->is_diff && i < (int)CHANGES; i++)
		x = svg_put_colour(changes[i].class, changes[i].legend, x, out);
	for (i = 0; !graph->is_diff && i < FLAME_KINDS; i++) {
		snprintf(class, sizeof(class), "%s1", kinds[i].letter);
		x = svg_put_colour(class, kinds[i].legend, x, out);
	}
	fputs("</g>\n", out);
}

/* What was recorded, in a line. */
static void svg_put_facts(const struct graph *graph, size_t hidden, FILE *out)
{
	char count[32];

	svg_put_text(graph->event, 200, out);
	if (graph->samples) {
		text_count(graph->samples, count, sizeof(count));
		fprintf(out, ", %s samples", count);
	}
	if (graph->lost) {
		text_count(graph->lost, count, sizeof(count));
		fprintf(out, ", %s lost", count);
	}
	if (graph->judged)
		fprintf(out, ", %.1f %% of the stacks complete",
			100.0 * graph->complete / graph->judged);
	if (graph->unfinished)
		fputs(", recording cut off", out);
	if (hidden)
		fprintf(out, ", %zu frames of less than %g %% not shown", hidden,
			100.0 / SVG_MIN_SHARE);
	if (graph->is_diff)
		fputs(", compared by shares", out);
	if (*graph->stops) {
		fputs("; ", out);
		svg_put_text(graph->stops, 200, out);
	}
}

static void svg_put_head(const struct graph *graph, u64 total, size_t hidden, int height, FILE *out)
{
	const char *title = *graph->cmdline ? graph->cmdline : "Flame graph";

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\" aria-labelledby=\"name desc\" data-total=\"%llu\" "
		"data-unit=\"", SVG_WIDTH, height, SVG_WIDTH, height, (unsigned long long)total);
	svg_put_text(graph->unit, 100, out);
	fputs("\">\n<title id=\"name\">Flame graph: ", out);
	svg_put_text(title, 1000, out);
	fputs("</title>\n<desc id=\"desc\">", out);
	svg_put_facts(graph, hidden, out);
	fputs("</desc>\n", out);
	svg_put_style(out);
	fprintf(out, "<rect id=\"back\" width=\"%d\" height=\"%d\"/>\n<text id=\"title\" x=\"%d\" "
		"y=\"24\">", SVG_WIDTH, height, SVG_SIDE);
	svg_put_text(title, 110, out);
	fprintf(out, "</text>\n<text class=\"info\" x=\"%d\" y=\"44\">", SVG_SIDE);
	svg_put_facts(graph, hidden, out);
	fprintf(out, "</text>\n"
		"<text id=\"reset\" class=\"info button\" x=\"%d\" y=\"70\" visibility=\"hidden\">"
		"Reset</text>\n<text id=\"search\" class=\"info button\" x=\"%d\" y=\"70\" "
		"visibility=\"hidden\">Search</text>\n<text id=\"matched\" class=\"info\" x=\"%d\" "
		"y=\"70\" text-anchor=\"end\"/>\n<text id=\"details\" x=\"%d\" y=\"%d\"/>\n",
		SVG_WIDTH - 110, SVG_WIDTH - 60, SVG_WIDTH - 130, SVG_SIDE, height - 14);
	svg_put_legend(graph, out);
}

static unsigned int name_shade(const char *text)
{
	unsigned int hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619;
	return hash >> 13 & (SVG_SHADES - 1);
}

static void svg_put_class(const struct graph *graph, size_t node, FILE *out)
{
	double change = graph_share(graph, node) - graph_share_before(graph, node);
	u32 kind = node ? graph_name(graph, node)->kind : FLAME_COMM;
	size_t i = 0;

	while (i < CHANGES - 1 && change < changes[i].least)
		i++;
	if (graph->is_diff)
		fputs(changes[i].class, out);
	else
		fprintf(out, "%s%u", kinds[kind].letter, name_shade(graph_text(graph, node)));
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

/* @y: of its upper edge */
static void svg_put_frame(const struct graph *graph, size_t node, u64 start, int y, FILE *out)
{
	const struct graph_node *at = &graph->node[node];
	double scale = (double)(SVG_WIDTH - 2 * SVG_SIDE) / graph->node[0].total;
	double x = SVG_SIDE + start * scale, width = at->total * scale;
	const char *text = graph_text(graph, node);
	size_t fits = (width - 6) / SVG_CHARACTER > 2 ? (width - 6) / SVG_CHARACTER : 0;
	char count[32];

	text_count(at->total, count, sizeof(count));
	fputs("<g class=\"", out);
	svg_put_class(graph, node, out);
	fprintf(out, "\" data-f=\"%llu,%llu,%u%s\"><title>", (unsigned long long)start,
		(unsigned long long)at->total, at->depth,
		node && *graph_module(graph, node) ? ",1" : "");
	svg_put_label(graph, node, out);
	fprintf(out, ": %s ", count);
	svg_put_text(graph->unit, 100, out);
	fprintf(out, ", %.2f %%", graph_share(graph, node));
	if (graph->is_diff)
		fprintf(out, ", before %.2f %%", graph_share_before(graph, node));
	fprintf(out, "</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>"
		"<text x=\"%.2f\" y=\"%d\">", x, y, width, SVG_ROW - 1, x + 3, y + 12);
	if (fits && text_characters(text) > fits) {
		svg_put_text(text, fits - 2, out);
		fputs("..", out);
	} else if (fits) {
		svg_put_text(text, fits, out);
	}
	fputs("</text></g>\n", out);
}

/** output_svg() - write a graph as SVG */
void output_svg(const struct graph *graph, FILE *out)
{
	u64 total = graph->node[0].total, least = total / SVG_MIN_SHARE ?: 1;
	u64 *start = graph_starts(graph);
	size_t i, hidden = 0;
	int deepest = 0;	/* of what is shown */

	for (i = 0; i < graph->count; i++) {
		const struct graph_node *node = &graph->node[i];

		if (node->total >= least && (int)node->depth > deepest)
			deepest = node->depth;
		hidden += node->total && node->total < least;
	}
	svg_put_head(graph, total, hidden, SVG_TOP + (deepest + 1) * SVG_ROW + SVG_BOTTOM, out);
	fputs("<g id=\"frames\">\n", out);
	for (i = 0; i < graph->count && total; i++)
		if (graph->node[i].total >= least)
			svg_put_frame(graph, i, start[i],
				      SVG_TOP + (deepest - (int)graph->node[i].depth) * SVG_ROW, out);
	free(start);
	fputs("</g>\n<script><![CDATA[\n", out);
	fputs(svg_script, out);
	fputs("]]></script>\n</svg>\n", out);
}
