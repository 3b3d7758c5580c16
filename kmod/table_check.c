// SPDX-License-Identifier: GPL-2.0
/*
 * Validate unwind tables.  beectl is built with this file, too: it takes no lock and allocates
 * nothing.
 */
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <asm/byteorder.h>

#include "table.h"
#include "table_bits.h"

static int table_refuse(struct bee_table_error *error, const char *why, u64 offset)
{
	error->why = why;
	error->offset = offset;
	return -EINVAL;
}

/* Something that a table must not have.  @offset: the byte to blame. */
struct table_fault {
	bool		 found;
	const char	*why;
	u64		 offset;
};

/* Refuse for the first of @faults that was found; an empty one ends them.  @base: see @offset. */
static int table_refuse_faults(struct bee_table_error *error, const struct table_fault *faults,
			       u64 base)
{
	for (; faults->why; faults++)
		if (faults->found)
			return table_refuse(error, faults->why, base + faults->offset);
	return 0;
}

#define AT(field)	offsetof(struct bee_table_header, field)

static int table_check_header(const struct bee_table_header *h, size_t size,
			      struct bee_table_error *error)
{
	u32 magic;

	if (size < sizeof(*h))
		return table_refuse(error, "shorter than a table header", size);
	magic = le32_to_cpu(h->magic);
	return table_refuse_faults(error, (const struct table_fault[]) {
		{ magic == __builtin_bswap32(BEE_TABLE_MAGIC), "made for the other byte order" },
		{ magic != BEE_TABLE_MAGIC, "not an unwind table (bad magic)" },
		{ le16_to_cpu(h->version) != BEE_TABLE_VERSION,
		  "another version of the table format", AT(version) },
		{ le16_to_cpu(h->machine) != BEE_TABLE_MACHINE,
		  "made for another architecture", AT(machine) },
		{ size > BEE_TABLE_MAX_SIZE, "larger than a table may be", size },
		{ le32_to_cpu(h->size) != size,
		  "truncated, or longer than its header says", AT(size) },
		{},
	}, 0);
}

/* The CRC covers the blob with the crc field as zero. */
static u32 table_crc(const void *blob, size_t size)
{
	static const u8 zero[sizeof(__le32)];
	size_t at = AT(crc), after = at + sizeof(zero);
	u32 crc = ~0u;

	crc = crc32_le(crc, blob, at);
	crc = crc32_le(crc, zero, sizeof(zero));
	crc = crc32_le(crc, (const u8 *)blob + after, size - after);
	return ~crc;
}

static int table_check_fields(const struct bee_table_header *h, struct bee_table_error *error)
{
	u64 base = le64_to_cpu(h->base);
	u32 span = le32_to_cpu(h->span);

	return table_refuse_faults(error, (const struct table_fault[]) {
		{ !span || span > BEE_TABLE_MAX_SPAN || base + span < base,
		  "text interval out of range", AT(span) },
		{ !h->nrows, "no rows", AT(nrows) },
		{ h->id_type >= __BEE_ID_MAX, "unknown kind of file identity", AT(id_type) },
		{ !h->id_len || h->id_len > BEE_TABLE_ID_MAX ||
		  memchr_inv(h->id + h->id_len, 0, BEE_TABLE_ID_MAX - h->id_len),
		  "bad length of the file identity", AT(id_len) },
		{ h->flags & ~BEE_TABLE_F_ALL, "unknown table flags", AT(flags) },
		{ !h->nsegments || h->nsegments > BEE_TABLE_MAX_SEGMENTS,
		  "number of segments out of range", AT(nsegments) },
		{},
	}, 0);
}

/* Fields that lists do not have. */
static int table_check_window_fields(const struct bee_table_header *h,
				     struct bee_table_error *error)
{
	u32 nrules = le16_to_cpu(h->nrules);

	return table_refuse_faults(error, (const struct table_fault[]) {
		{ !nrules, "no rules", AT(nrules) },
		{ h->window < BEE_TABLE_MIN_WINDOW || h->window > BEE_TABLE_MAX_WINDOW,
		  "size of a window out of range", AT(window) },
		{ h->page > BEE_TABLE_MAX_PAGE, "size of a page out of range", AT(page) },
		{ h->grain > BEE_TABLE_MAX_GRAIN, "grain of head tokens out of range", AT(grain) },
		{ h->border_bits > BEE_TABLE_MAX_BORDER_BITS,
		  "width of a window's border out of range", AT(border_bits) },
		{ h->body_bits > bee_table_width(nrules) || 1u << h->body_bits > nrules,
		  "short body rules past the end of the dictionary", AT(body_bits) },
		{ !h->nmenus || h->nmenus > BEE_TABLE_MAX_MENUS,
		  "number of menus out of range", AT(nmenus) },
		{ h->menu_bits[HEAD] > BEE_TABLE_MAX_MENU_BITS ||
		  h->menu_bits[STEP] > BEE_TABLE_MAX_MENU_BITS,
		  "size of a menu out of range", AT(menu_bits) },
		{},
	}, 0);
}

/**
 * bee_table_width() - bits that a number below a limit takes
 * @count: the limit
 *
 * Context: Any.
 * Return: the least width in bits that holds 0 .. @count - 1.
 */
u32 bee_table_width(u32 count)
{
	u32 width = 0;

	while (width < 32 && (1ull << width) < count)
		width++;
	return width;
}

static u64 bits_to_bytes(u64 bits)
{
	return (bits + 7) / 8;
}

/* Find the phrases of a kind, which begin at byte @at.  Return: the byte after them. */
static u64 table_layout_phrases(const struct bee_table_header *h, unsigned int kind,
				const struct bee_table *table, struct bee_table_phrases *p, u64 at)
{
	u32 i;

	for (i = 0; i < BEE_TABLE_MAX_OPS; i++) {
		struct bee_table_group *g = &p->groups[i];

		g->shape_bits = bee_table_width(le16_to_cpu(h->nshapes[kind][i]));
		g->width = g->shape_bits + (kind == HEAD ? table->rule_bits + 4 * (i + 1) : 4 * i);
		g->shape_width = kind == HEAD ? i * table->rule_bits : (i + 1) * table->op_bits;
		g->phrases = at * 8;
		at += bits_to_bytes((u64)le16_to_cpu(h->nphrases[kind][i]) * g->width);
	}
	for (i = 0; i < BEE_TABLE_MAX_OPS; i++) {
		p->groups[i].shapes = at * 8;
		at += bits_to_bytes((u64)le16_to_cpu(h->nshapes[kind][i]) *
				    p->groups[i].shape_width);
	}
	return at;
}

/* Find all sections but the page records.  Return: the byte after them. */
static u64 table_layout_sections(const struct bee_table_header *h, struct bee_table *table)
{
	u64 at = sizeof(*h);
	u32 kind, i, most;

	table->segments = (const void *)((const u8 *)h + at);
	at += table->nsegments * sizeof(*table->segments);
	table->full = (const void *)((const u8 *)h + at);
	at += table->nfull * sizeof(*table->full);
	table->rules = (const void *)((const u8 *)h + at);
	at += table->nrules * sizeof(*table->rules);
	table->pages = (const void *)((const u8 *)h + at);
	at += (u64)table->npages * sizeof(*table->pages);
	for (kind = HEAD; kind <= STEP; kind++) {
		for (i = 0, most = 0; i < BEE_TABLE_MAX_OPS; i++)
			if (le16_to_cpu(h->nphrases[kind][i]) > most)
				most = le16_to_cpu(h->nphrases[kind][i]);
		table->kinds[kind].used = most;
		table->kinds[kind].id_bits = 3 + bee_table_width(most);
	}
	/* A kind without phrases has no menu. */
	table->head_menu = (const void *)((const u8 *)h + at);
	table->nheads = table->kinds[HEAD].used << h->menu_bits[HEAD];
	at += table->nheads * sizeof(*table->head_menu);
	table->step_menus = (const void *)((const u8 *)h + at);
	table->nsteps = table->kinds[STEP].used * h->nmenus << h->menu_bits[STEP];
	at += table->nsteps * sizeof(*table->step_menus);
	for (kind = HEAD; kind <= STEP; kind++)
		at = table_layout_phrases(h, kind, table, &table->kinds[kind], at);
	return at;
}

/* Fill in where the parts of a table are; NULL or 0 if a part is not there. */
static void table_begin(const struct bee_table_header *h, struct bee_table *table)
{
	u64 base = le64_to_cpu(h->base), origin = base & ~((1ull << h->window) - 1);
	u32 span = le32_to_cpu(h->span);

	BUILD_BUG_ON(sizeof(struct bee_table_header) != 184);
	BUILD_BUG_ON(sizeof(struct bee_table_segment) != 24);
	BUILD_BUG_ON(sizeof(struct bee_table_rule) != 24);
	BUILD_BUG_ON(sizeof(struct bee_table_row) != 8);

	*table = (struct bee_table){
		.header = h,
		.base = base,
		.span = span,
		.origin = origin,
		.reach = base - origin + span,
		.window = h->window,
		.nrows = le32_to_cpu(h->nrows),
		.nrules = le16_to_cpu(h->nrules),
		.nfull = le16_to_cpu(h->nfull),
		.nsegments = h->nsegments,
		.size = le32_to_cpu(h->size),
	};
}

static int table_layout(const struct bee_table_header *h, struct bee_table *table,
			struct bee_table_error *error)
{
	u64 end;

	table->page = h->page;
	table->border_bits = h->border_bits;
	table->page_shift = h->window + h->page;
	table->page_mask = bits_mask(h->page);
	table->window_mask = bits_mask(h->window);
	table->body_mask = bits_mask(h->body_bits);
	table->rule_bits = bee_table_width(table->nrules);
	table->rule_mask = bits_mask(table->rule_bits);
	table->short_width = 1 + h->body_bits;
	table->long_width = 3 + table->rule_bits;
	table->menu_bits = h->menu_bits[STEP];
	table->op_bits = bee_table_width(table->nrules + BEE_OP_RULE);
	table->npages = ((table->base + table->span - 1 - table->origin) >>
			 table->page_shift) + 1;
	end = table_layout_sections(h, table);
	if (end + BEE_TABLE_PAD > table->size)
		return table_refuse(error, "sections do not fit the table's size", AT(nrules));
	table->records = end * 8;
	return 0;
}

static u64 table_offset_of(const struct bee_table *table, const void *p)
{
	return (const u8 *)p - (const u8 *)table->header;
}

static int table_check_segments(const struct bee_table *table, struct bee_table_error *error)
{
	u64 floor = 0;
	u32 i;

	for (i = 0; i < table->nsegments; i++) {
		const struct bee_table_segment *s = &table->segments[i];
		u64 vaddr = le64_to_cpu(s->vaddr), size = le64_to_cpu(s->size);
		u64 offset = le64_to_cpu(s->offset);

		if (!size || vaddr < floor || vaddr + size < vaddr || offset + size < offset)
			return table_refuse(error, "segments overlap, wrap or are empty",
					    table_offset_of(table, s));
		floor = vaddr + size;
	}
	return 0;
}

static int table_check_full(const struct bee_table *table, const struct bee_table_rule *r,
			    struct bee_table_error *error)
{
	bool fp_has_reg = r->fp == BEE_FP_DEREF || r->fp == BEE_FP_REG;
	bool fp_has_off = r->fp == BEE_FP_DEREF || r->fp == BEE_FP_CFA;
	bool ra_has_reg = r->ra == BEE_RA_DEREF || r->ra == BEE_RA_REG;
	bool ra_has_off = r->ra == BEE_RA_DEREF || r->ra == BEE_RA_CFA || r->ra == BEE_RA_IP;
	u32 off = le32_to_cpu(r->cfa_off);

	return table_refuse_faults(error, (const struct table_fault[]) {
		{ r->flags & ~BEE_RULE_SIGNAL || r->reserved, "unknown rule flags" },
		{ r->cfa >= __BEE_CFA_MAX, "unknown CFA rule" },
		/* In BEE_CFA_INDEX and BEE_CFA_DEREF2 the upper four bits of cfa_reg are not of a register. */
		{ r->cfa != BEE_CFA_INDEX && r->cfa != BEE_CFA_DEREF2 &&
		  r->cfa_reg >= __BEE_REG_MAX, "CFA register out of range" },
		{ (r->cfa == BEE_CFA_REG || r->cfa == BEE_CFA_PLT) && r->cfa_add,
		  "unused CFA field not zero" },
		{ r->cfa == BEE_CFA_PLT && (r->cfa_reg || off < 9 || off > 11),
		  "PLT rule with other constants than 9 to 11" },
		{ r->cfa == BEE_CFA_SAVED && (s32)off >= 0,
		  "register saved by a callee, but not below its frame" },
		{ r->fp >= __BEE_FP_MAX, "unknown FP rule" },
		{ r->fp_reg >= (fp_has_reg ? __BEE_REG_MAX : 1), "FP register out of range" },
		{ !fp_has_off && r->fp_off, "unused FP field not zero" },
		{ r->ra >= __BEE_RA_MAX, "unknown RA rule" },
		{ r->ra_reg >= (ra_has_reg ? __BEE_REG_MAX : 1), "RA register out of range" },
		{ !ra_has_off && r->ra_off, "unused RA field not zero" },
		{},
	}, table_offset_of(table, r));
}

static int table_check_word(const struct bee_table *table, const __le32 *at,
			    struct bee_table_error *error)
{
	u32 nmenus = table->header->nmenus ?: 1, word = le32_to_cpu(*at);
	u32 kind = word & BEE_WORD_KIND, field = word_field(word);

	return table_refuse_faults(error, (const struct table_fault[]) {
		{ word_menu(word) >= nmenus,
		  "rule with a menu that does not exist" },
		{ kind >= BEE_WORD_FULL && word >> BEE_WORD_FP_SHIFT & BEE_WORD_FP_MAX,
		  "unused rule field not zero" },
		{ kind == BEE_WORD_FULL && field >= table->nfull,
		  "full rule past the end of the dictionary" },
		{ kind == BEE_WORD_NONE && field > __BEE_UNSUP_MAX,
		  "unknown reason of an unsupported rule" },
		{ kind < BEE_WORD_FULL && field > BEE_WORD_CFA_MAX,
		  "CFA offset of a simple rule out of range" },
		{},
	}, table_offset_of(table, at));
}

static int table_check_full_rules(const struct bee_table *table, struct bee_table_error *error)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < table->nfull; i++)
		ret = table_check_full(table, &table->full[i], error);
	return ret;
}

static int table_check_rules(const struct bee_table *table, struct bee_table_error *error)
{
	int ret = table_check_full_rules(table, error);
	u32 i;

	for (i = 0; !ret && i < table->nrules; i++)
		ret = table_check_word(table, &table->rules[i], error);
	return ret;
}

/* Fills table->scan, too. */
static int table_check_classes(struct bee_table *table, struct bee_table_error *error)
{
	const struct bee_table_header *h = table->header;
	int ret;
	u32 i;

	for (i = 0; i < BEE_TABLE_CLASSES; i++) {
		const struct bee_table_class *c = &h->classes[i];
		bool step = c->gap & BEE_CLASS_STEP, direct = c->gap & BEE_CLASS_DIRECT;
		u32 gap_bits = c->gap & 0xf;

		ret = table_refuse_faults(error, (const struct table_fault[]) {
			{ c->gap & ~(BEE_CLASS_STEP | BEE_CLASS_DIRECT | 0xf),
			  "unknown class flags" },
			{ gap_bits > (step ? table->window : table->window - h->grain),
			  "class with gaps wider than a window" },
			{ !table->kinds[step].used, "class of a kind without phrases" },
			{ direct && c->id != table->kinds[step].id_bits,
			  "class with a wrong width of phrase numbers" },
			{ !direct && c->id > h->menu_bits[step],
			  "class with places past the end of a menu" },
			{},
		}, table_offset_of(table, c));
		if (ret)
			return ret;
		table->scan[i] = BEE_SCAN_TOKEN | bits_mask(gap_bits) |
				 (u64)(gap_bits + c->id) << BEE_SCAN_WIDTH_SHIFT |
				 (u64)gap_bits << BEE_SCAN_GAP_BITS_SHIFT |
				 (direct ? BEE_SCAN_DIRECT : 0) |
				 (step ? BEE_SCAN_STEP : (u64)h->grain << BEE_SCAN_GRAIN_SHIFT) |
				 (u64)bits_mask(c->id) << BEE_SCAN_ID_SHIFT;
	}
	return 0;
}

static bool phrase_exists(const struct bee_table *table, u32 kind, u32 id)
{
	return id / BEE_TABLE_MAX_OPS <
	       le16_to_cpu(table->header->nphrases[kind][id % BEE_TABLE_MAX_OPS]);
}

static int table_check_menus(const struct bee_table *table, struct bee_table_error *error)
{
	const struct bee_table_header *h = table->header;
	u32 i, kind;

	for (kind = HEAD; kind <= STEP; kind++)
		if (!table->kinds[kind].used && h->menu_bits[kind])
			return table_refuse(error, "menu of a kind without phrases",
					    AT(menu_bits) + kind);
	for (i = 0; i < table->nheads; i++) {
		u32 place = le32_to_cpu(table->head_menu[i]), id = place & BEE_HEAD_PHRASE;
		u64 offset = table_offset_of(table, &table->head_menu[i]);

		if (!phrase_exists(table, HEAD, id))
			return table_refuse(error, "menu names a phrase that does not exist",
					    offset);
		if (table_field(table, table_phrase(table, HEAD, id).at, table->rule_bits) !=
		    place >> BEE_HEAD_BODY_SHIFT)
			return table_refuse(error, "menu with another body rule than its phrase",
					    offset);
	}
	for (i = 0; i < table->nsteps; i++)
		if (!phrase_exists(table, STEP, le16_to_cpu(table->step_menus[i])))
			return table_refuse(error, "menu names a phrase that does not exist",
					    table_offset_of(table, &table->step_menus[i]));
	return 0;
}

/* The phrases of a kind with the same number of ops, @group + 1, and their shapes. */
static int table_check_group(const struct bee_table *table, u32 kind, u32 group,
			     struct bee_table_error *error)
{
	const struct bee_table_group *g = &table->kinds[kind].groups[group];
	u32 nphrases = le16_to_cpu(table->header->nphrases[kind][group]);
	u32 nshapes = le16_to_cpu(table->header->nshapes[kind][group]);
	u32 body_bits = kind == HEAD ? table->rule_bits : 0;
	u32 op_bits = kind == HEAD ? table->rule_bits : table->op_bits;
	u32 nops = nshapes * (kind == HEAD ? group : group + 1);
	u32 max_op = table->nrules + (kind == HEAD ? 0 : BEE_OP_RULE);
	u32 i, at;

	if (nshapes > nphrases || !nshapes != !nphrases)
		return table_refuse(error, "numbers of phrases and shapes contradict each other",
				    table_offset_of(table, &table->header->nshapes[kind][group]));
	for (i = 0, at = g->phrases; i < nphrases; i++, at += g->width) {
		if (kind == HEAD && table_field(table, at, body_bits) >= table->nrules)
			return table_refuse(error,
					    "head phrase with a body rule that does not exist",
					    at / 8);
		if (table_field(table, at + body_bits, g->shape_bits) >= nshapes)
			return table_refuse(error, "phrase with a shape that does not exist",
					    at / 8);
	}
	for (i = 0, at = g->shapes; i < nops; i++, at += op_bits)
		if (table_field(table, at, op_bits) >= max_op)
			return table_refuse(error, "op with a rule that does not exist", at / 8);
	return 0;
}

static int table_check_phrases(const struct bee_table *table, struct bee_table_error *error)
{
	u32 kind, group;
	int ret = 0;

	for (kind = HEAD; !ret && kind <= STEP; kind++)
		for (group = 0; !ret && group < BEE_TABLE_MAX_OPS; group++)
			ret = table_check_group(table, kind, group, error);
	return ret;
}

/* The window in bits [@at, @end) of the blob: fields from below and tags from above must meet. */
static const char *window_check(const struct bee_table *table, u32 at, u32 end)
{
	struct window_start start = window_start(table, at);
	u64 class;
	u32 n;

	if (end - at < start.width)
		return "window too short for its body rule";
	if (start.body >= table->nrules)
		return "window with a body rule that does not exist";
	at += start.width;
	for (n = 0; at < end; n++) {
		if (n == BEE_TABLE_MAX_TOKENS)
			return "window with too many tokens";
		if (end - at < 4)
			return "window that ends inside a token";
		class = table->scan[table_field(table, end - 4, 4)];
		end -= 4;
		if (end - at < class_width(class))
			return "window that ends inside a token";
		if (class & BEE_SCAN_DIRECT &&
		    !phrase_exists(table, !!(class & BEE_SCAN_STEP),
				   class_id(class, table_bits(table, at))))
			return "token with a phrase that does not exist";
		at += class_width(class);
	}
	return NULL;
}

/* *@size: bytes of the record. */
static int table_check_record(const struct bee_table *table, u32 page, u32 *size,
			      struct bee_table_error *error)
{
	struct page_record r = page_record(table, page);
	u32 i, at, end, byte = r.start / 8;

	if (r.length < r.windows || r.length > (table->size - BEE_TABLE_PAD - byte) * 8)
		return table_refuse(error, "page record without windows, or past the end", byte);
	for (i = 0; i < 1u << table->page; i++) {
		const char *why;

		page_window(table, &r, i, &at, &end);
		if (end < at || end - r.start > r.length)
			return table_refuse(error, "windows of a page overlap or leave it", byte);
		why = window_check(table, at, end);
		if (why)
			return table_refuse(error, why, at / 8);
	}
	*size = bits_to_bytes(r.length);
	return 0;
}

static int table_check_pages(const struct bee_table *table, struct bee_table_error *error)
{
	u32 i, size, records = table->records / 8, record = records;
	int ret;

	for (i = 0; i < table->npages; i++) {
		u32 page = le32_to_cpu(table->pages[i]);
		bool is_rule = page & BEE_PAGE_RULE;
		u32 narrower = page >> BEE_PAGE_NARROWER_SHIFT & BEE_PAGE_NARROWER;

		ret = table_refuse_faults(error, (const struct table_fault[]) {
			{ is_rule && page >> BEE_PAGE_RULE_SHIFT >= table->nrules,
			  "page with a rule that does not exist" },
			{ !is_rule && narrower > table->border_bits,
			  "page with borders of less than no bits" },
			{ !is_rule && page >> BEE_PAGE_RECORD_SHIFT != record - records,
			  "page records are not back to back" },
			{},
		}, table_offset_of(table, &table->pages[i]));
		if (ret)
			return ret;
		/* A table of the largest size takes seconds. */
		cond_resched();
		if (is_rule)
			continue;
		ret = table_check_record(table, page, &size, error);
		if (ret)
			return ret;
		record += size;
	}
	if (record != table->size - BEE_TABLE_PAD ||
	    memchr_inv(table_blob(table) + record, 0, BEE_TABLE_PAD))
		return table_refuse(error, "end of the table is not zero", record);
	return 0;
}

/* All fields between nsegments and id_type, and between flags and id. */
static bool list_has_zeros(const struct bee_table_header *h)
{
	const u8 *bytes = (const u8 *)h;

	return !h->nrules && !memchr_inv(bytes + AT(page), 0, AT(id_type) - AT(page)) &&
	       !memchr_inv(bytes + AT(classes), 0, AT(id) - AT(classes));
}

static int table_check_list(const struct bee_table_header *h, struct bee_table *table,
			    struct bee_table_error *error)
{
	u64 at = sizeof(*h), pc, floor = 0;
	int ret = 0;
	u32 i;

	if (!list_has_zeros(h))
		return table_refuse(error, "list with fields of windows", AT(page));
	table_begin(h, table);
	table->segments = (const void *)((const u8 *)h + at);
	at += table->nsegments * sizeof(*table->segments);
	table->full = (const void *)((const u8 *)h + at);
	at += table->nfull * sizeof(*table->full);
	table->rows = (const void *)((const u8 *)h + at);
	at += (u64)table->nrows * sizeof(*table->rows);
	if (at != table->size)
		return table_refuse(error, "rows of a list do not fit the table's size",
				    AT(nrows));
	ret = table_check_segments(table, error) ?: table_check_full_rules(table, error);
	for (i = 0; !ret && i < table->nrows; i++, floor = pc + 1) {
		pc = le32_to_cpu(table->rows[i].pc);
		if (i ? pc < floor || pc >= table->span : pc)
			return table_refuse(error, "rows of a list do not ascend within its text",
					    table_offset_of(table, &table->rows[i]));
		ret = table_check_word(table, &table->rows[i].word, error);
		if (!(i % 4096))
			cond_resched();
	}
	return ret;
}

static int table_check_windows(const struct bee_table_header *h, struct bee_table *table,
			       struct bee_table_error *error)
{
	int ret = table_check_window_fields(h, error);

	if (ret)
		return ret;
	table_begin(h, table);
	return table_layout(h, table, error) ?:
	       table_check_segments(table, error) ?:
	       table_check_rules(table, error) ?:
	       table_check_classes(table, error) ?:
	       table_check_phrases(table, error) ?:
	       table_check_menus(table, error) ?:
	       table_check_pages(table, error);
}

/**
 * bee_table_validate() - decide whether a blob may be used, and prepare it
 * @blob: the table, 8-byte aligned; must not change afterwards
 * @size: bytes of @blob
 * @table: filled on success, with pointers into @blob; of no use otherwise
 * @error: filled on refusal
 *
 * The only gate between bytes from user space and the sampling path: afterwards
 * bee_table_lookup() can neither read outside of the blob nor loop.  Whether the rows are true
 * cannot be known; the walk does not trust what it gets by them.
 *
 * Context: Process, may sleep; linear in @size.
 * Return: 0, or -EINVAL with @error set.
 */
int bee_table_validate(const void *blob, size_t size, struct bee_table *table,
		       struct bee_table_error *error)
{
	const struct bee_table_header *h = blob;
	int ret = table_check_header(h, size, error);

	if (ret)
		return ret;
	if (le32_to_cpu(h->crc) != table_crc(blob, size))
		return table_refuse(error, "checksum does not match: the table is damaged",
				    AT(crc));
	ret = table_check_fields(h, error);
	if (ret)
		return ret;
	return h->window ? table_check_windows(h, table, error) : table_check_list(h, table, error);
}
