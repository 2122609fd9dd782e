/* How the function at a code address keeps its caller's frame, out of .eh_frame (LSB, "Exception Frames";
   DWARF 5, 6.4). Only what compilers write for ordinary functions is understood; anything else ends the
   chain. */
#include <dlfcn.h>
#include <string.h>

#include "heap/agent/agent.h"

/* x86-64 psABI, figure 3.36 */
enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };
enum {
  PE_ABSOLUTE = 0x00,
  PE_UDATA4 = 0x03,
  PE_SDATA4 = 0x0b,
  PE_SDATA8 = 0x0c,
  PE_PCREL = 0x10,
  PE_TABLE = 0x3b
};
enum { OP_BREG0 = 0x70, OP_DEREF = 0x06 };
#define SAVED_ROWS 8

/* struct dl_find_object of glibc 2.35: a look-up that takes no lock. */
static int (*find_object)(void*, struct dl_find_object*);

void frame_rule_prepare(void) {
  find_object = (int (*)(void*, struct dl_find_object*))dlsym(RTLD_DEFAULT, "_dl_find_object");
}

/* A cursor over bytes; `failed` where they ended early. */
struct bytes {
  const uint8_t *at, *end;
  int failed;
};

static uint64_t take(struct bytes* in, size_t size) {
  uint64_t value = 0;
  if ((size_t)(in->end - in->at) < size) {
    in->failed = 1;
    in->at = in->end;
    return 0;
  }
  memcpy(&value, in->at, size);
  in->at += size;
  return value;
}

static uint64_t take_uleb(struct bytes* in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = take(in, 1);
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  in->failed = 1;
  return 0;
}

static int64_t take_sleb(struct bytes* in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64;) {
    const uint64_t byte = take(in, 1);
    value |= (byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (shift < 64 && (byte & 0x40) != 0) value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
  }
  in->failed = 1;
  return 0;
}

static void skip(struct bytes* in, uint64_t size) {
  if ((uint64_t)(in->end - in->at) < size) {
    in->failed = 1;
    in->at = in->end;
  } else {
    in->at += size;
  }
}

/* An encoded address (DW_EH_PE_*), of the encodings that x86-64 files use. */
static uint64_t take_address(struct bytes* in, uint8_t encoding) {
  const uint64_t here = (uint64_t)in->at;
  uint64_t value = 0;
  switch (encoding & 0x0f) {
    case PE_ABSOLUTE:
    case PE_SDATA8:
      value = take(in, 8);
      break;
    case PE_UDATA4:
      value = take(in, 4);
      break;
    case PE_SDATA4:
      value = (uint64_t)(int64_t)(int32_t)take(in, 4);
      break;
    default:
      in->failed = 1;
  }
  if ((encoding & 0x70) == PE_PCREL) return here + value;
  if ((encoding & 0xf0) != 0) in->failed = 1;
  return value;
}

/* The FDE for `pc` by the sorted table of .eh_frame_hdr; NULL where there is none. */
static const uint8_t* find_entry(uint64_t pc, const struct dl_find_object* object) {
  const uint8_t* header = object->dlfo_eh_frame;
  const uint64_t end = (uint64_t)object->dlfo_map_end;
  if (header == NULL || (uint64_t)header + 12 > end) return NULL;
  if (header[0] != 1 || header[2] != PE_UDATA4 || header[3] != PE_TABLE) return NULL;
  if ((header[1] & 0x0f) != PE_SDATA4 && (header[1] & 0x0f) != PE_UDATA4) return NULL;
  uint32_t count;
  memcpy(&count, header + 8, 4);
  if ((end - (uint64_t)header - 12) / 8 < count) return NULL;
  const int32_t* table = (const int32_t*)(header + 12); /* pairs: code, entry; both relative to the header */
  const int64_t wanted = (int64_t)(pc - (uint64_t)header);
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (table[2 * (size_t)middle] <= wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : header + table[2 * (size_t)low - 1];
}

struct row {
  uint64_t cfa_register;
  int64_t cfa_offset;
  struct bytes cfa_expression; /* at NULL: register and offset */
  int bp;                      /* enum of struct frame_rule */
  int64_t bp_offset;
  int usable; /* the return address is at CFA - 8, and bp is where bp says */
};

struct unit {
  uint64_t code_align;
  int64_t data_align;
  uint8_t encoding;
  int augmented;
  struct bytes program;
};

/* The bytes of the entry at `at`, its length read. */
static struct bytes entry_bytes(const uint8_t* at, uint64_t end) {
  struct bytes in = {at, (const uint8_t*)end, (uint64_t)at >= end};
  const uint64_t length = in.failed ? 0 : take(&in, 4);
  if (length == 0 || length >= 0xfffffff0u || length > (uint64_t)(in.end - in.at))
    in.failed = 1;
  else
    in.end = in.at + length;
  return in;
}

static int read_unit(const uint8_t* at, uint64_t end, struct unit* unit) {
  struct bytes in = entry_bytes(at, end);
  if (in.failed || take(&in, 4) != 0) return 0;
  const uint64_t version = take(&in, 1);
  const char* letters = (const char*)in.at;
  const uint8_t* nul = memchr(in.at, 0, (size_t)(in.end - in.at));
  if ((version != 1 && version != 3) || nul == NULL) return 0;
  in.at = nul + 1;
  unit->code_align = take_uleb(&in);
  unit->data_align = take_sleb(&in);
  if ((version == 1 ? take(&in, 1) : take_uleb(&in)) != REG_RA) return 0;
  unit->encoding = PE_ABSOLUTE;
  unit->augmented = *letters == 'z';
  if (unit->augmented) {
    const uint64_t length = take_uleb(&in);
    if (length > (uint64_t)(in.end - in.at)) return 0;
    struct bytes data = {in.at, in.at + length, 0};
    for (letters++; *letters != 0; letters++) {
      if (*letters == 'R')
        unit->encoding = (uint8_t)take(&data, 1);
      else if (*letters == 'L')
        skip(&data, 1);
      else if (*letters == 'P')
        take_address(&data, (uint8_t)(take(&data, 1) & 0x1f));
      else
        return 0; /* S: a signal's frame, whose caller did not call */
    }
    if (data.failed) return 0;
    in.at += length;
  } else if (*letters != 0) {
    return 0;
  }
  unit->program = in;
  return !in.failed;
}

static void set_register(struct row* row, uint64_t number, int kind, int64_t offset) {
  if (number == REG_BP) {
    row->bp = kind;
    row->bp_offset = offset;
  } else if (number == REG_RA && (kind != BP_AT_CFA || offset != -8)) {
    row->usable = 0;
  }
}

/* A register that is given by an expression: for bp, "saved at bp + offset" is understood. */
static void set_by_expression(struct row* row, uint64_t number, struct bytes expression, int is_address) {
  if (number != REG_BP && number != REG_RA) return;
  const uint64_t operation = take(&expression, 1);
  const int64_t offset = take_sleb(&expression);
  if (number == REG_BP && is_address && operation == OP_BREG0 + REG_BP && !expression.failed &&
      expression.at == expression.end)
    set_register(row, REG_BP, BP_AT_BP, offset);
  else
    row->usable = 0;
}

static struct bytes take_block(struct bytes* in) {
  const uint64_t length = take_uleb(in);
  struct bytes block = {in->at, in->at, 0};
  skip(in, length);
  block.end = in->failed ? block.at : in->at;
  return block;
}

/* Runs call frame instructions up to the code address `wanted` (DWARF 5, 6.4.2; opcodes in 7.24). False where
   there is one that is not known. */
static int run(struct bytes in, const struct unit* unit, uint64_t code, uint64_t wanted, struct row* row,
               const struct row* initial) {
  struct row saved[SAVED_ROWS];
  int depth = 0;
  while (in.at < in.end && !in.failed) {
    const uint8_t byte = (uint8_t)take(&in, 1), low = byte & 0x3f;
    uint64_t number = 0;
    switch (byte >> 6) {
      case 1: /* advance_loc */
        code += low * unit->code_align;
        if (code > wanted) return 1;
        continue;
      case 2: /* offset */
        set_register(row, low, BP_AT_CFA, (int64_t)take_uleb(&in) * unit->data_align);
        continue;
      case 3: /* restore */
        if (low == REG_BP) set_register(row, low, initial->bp, initial->bp_offset);
        continue;
      default:
        break;
    }
    switch (byte) {
      case 0x00: /* nop */
        break;
      case 0x02: /* advance_loc1, 2, 4 */
      case 0x03:
      case 0x04:
        code += take(&in, byte == 0x02 ? 1 : byte == 0x03 ? 2 : 4) * unit->code_align;
        if (code > wanted) return 1;
        break;
      case 0x05: /* offset_extended */
        number = take_uleb(&in);
        set_register(row, number, BP_AT_CFA, (int64_t)take_uleb(&in) * unit->data_align);
        break;
      case 0x06: /* restore_extended */
        if (take_uleb(&in) == REG_BP) set_register(row, REG_BP, initial->bp, initial->bp_offset);
        break;
      case 0x07: /* undefined: of the return address, the outermost frame */
        if (take_uleb(&in) == REG_RA) row->usable = 0;
        break;
      case 0x08: /* same_value */
        set_register(row, take_uleb(&in), BP_SAME, 0);
        break;
      case 0x0a: /* remember_state */
        if (depth == SAVED_ROWS) return 0;
        saved[depth++] = *row;
        break;
      case 0x0b: /* restore_state */
        if (depth == 0) return 0;
        *row = saved[--depth];
        break;
      case 0x0c: /* def_cfa */
        row->cfa_register = take_uleb(&in);
        row->cfa_offset = (int64_t)take_uleb(&in);
        row->cfa_expression.at = NULL;
        break;
      case 0x0d: /* def_cfa_register */
        row->cfa_register = take_uleb(&in);
        row->cfa_expression.at = NULL;
        break;
      case 0x0e: /* def_cfa_offset */
        row->cfa_offset = (int64_t)take_uleb(&in);
        break;
      case 0x0f: /* def_cfa_expression */
        row->cfa_expression = take_block(&in);
        break;
      case 0x10: /* expression */
        number = take_uleb(&in);
        set_by_expression(row, number, take_block(&in), 1);
        break;
      case 0x11: /* offset_extended_sf */
        number = take_uleb(&in);
        set_register(row, number, BP_AT_CFA, take_sleb(&in) * unit->data_align);
        break;
      case 0x12: /* def_cfa_sf */
        row->cfa_register = take_uleb(&in);
        row->cfa_offset = take_sleb(&in) * unit->data_align;
        row->cfa_expression.at = NULL;
        break;
      case 0x13: /* def_cfa_offset_sf */
        row->cfa_offset = take_sleb(&in) * unit->data_align;
        break;
      case 0x16: /* val_expression */
        number = take_uleb(&in);
        set_by_expression(row, number, take_block(&in), 0);
        break;
      case 0x2e: /* GNU_args_size */
        take_uleb(&in);
        break;
      default:
        return 0;
    }
  }
  return !in.failed;
}

static struct frame_rule rule_of_row(struct row row) {
  struct frame_rule rule = {RULE_END, 0, BP_SAME, 0};
  if (!row.usable || row.cfa_offset != (int32_t)row.cfa_offset || row.bp_offset != (int32_t)row.bp_offset)
    return rule;
  if (row.cfa_expression.at != NULL) {
    /* *(bp + offset): a function that has aligned its stack. */
    const uint64_t operation = take(&row.cfa_expression, 1);
    const int64_t offset = take_sleb(&row.cfa_expression);
    if (operation != OP_BREG0 + REG_BP || take(&row.cfa_expression, 1) != OP_DEREF ||
        row.cfa_expression.failed || row.cfa_expression.at != row.cfa_expression.end ||
        offset != (int32_t)offset)
      return rule;
    rule.cfa = RULE_AT_BP;
    rule.cfa_offset = (int32_t)offset;
  } else if (row.cfa_register == REG_SP || row.cfa_register == REG_BP) {
    rule.cfa = row.cfa_register == REG_SP ? RULE_SP : RULE_BP;
    rule.cfa_offset = (int32_t)row.cfa_offset;
  } else {
    return rule;
  }
  rule.bp = row.bp;
  rule.bp_offset = (int32_t)row.bp_offset;
  return rule;
}

struct frame_rule frame_rule_at(uint64_t pc) {
  const struct frame_rule none = {RULE_END, 0, BP_SAME, 0};
  struct dl_find_object object;
  if (find_object == NULL || find_object((void*)pc, &object) != 0) return none;
  const uint64_t end = (uint64_t)object.dlfo_map_end;
  const uint8_t* at = find_entry(pc, &object);
  if (at == NULL || (uint64_t)at < (uint64_t)object.dlfo_map_start) return none;
  struct bytes in = entry_bytes(at, end);
  const uint8_t* here = in.at;
  const uint64_t back = take(&in, 4); /* from here to the common information entry */
  struct unit unit;
  if (in.failed || back == 0 || back > (uint64_t)here - (uint64_t)object.dlfo_map_start ||
      !read_unit(here - back, end, &unit))
    return none;
  const uint64_t code = take_address(&in, unit.encoding);
  const uint64_t size = take_address(&in, unit.encoding & 0x0f);
  if (in.failed || pc < code || pc - code >= size) return none;
  if (unit.augmented) skip(&in, take_uleb(&in));

  struct row row = {.usable = 1, .bp = BP_SAME};
  if (!run(unit.program, &unit, code, UINT64_MAX, &row, &row)) return none;
  const struct row initial = row;
  if (!run(in, &unit, code, pc, &row, &initial)) return none;
  return rule_of_row(row);
}
