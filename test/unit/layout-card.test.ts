// The card of a type: picture, table and list of a known type; sizes of large ones; names that try to be something else.
import assert from 'node:assert/strict';
import type { LayoutMember } from '../../extension/protocol/layout';
import type { Measure } from '../../extension/protocol/measure';
import type { Report } from '../../extension/protocol/report';
import { altText, layoutCard, shortCard } from '../../extension/session/layout/layout-card';
import { cardRows } from '../../extension/session/layout/layout-card-rows';
import { cardPicture, dataUri, escapeXml, MAX_HEIGHT, MAX_URI, MAX_WIDTH, PALETTES } from '../../extension/session/layout/layout-card-svg';
import {
  cardTitle,
  lensTitle,
  memberText,
  membersText,
  missingNotes,
  type CardContext,
} from '../../extension/session/layout/layout-card-words';
import { cardOf, plainCard, type TypeCard } from '../../extension/session/layout/type-heat';
import type { TypePlace } from '../../extension/session/layout/type-places';
import { matchGolden } from './golden';
import { access, cacheLine, report, statsOf } from './report-builder';
import { typesOf } from './report-lookups';
import { field, layout, member, queueHeat, typeHeat } from './type-builder';

const THEMES = Object.keys(PALETTES) as (keyof typeof PALETTES)[];
const profile = (contended = 1000): Report => report([cacheLine([access({ writes: contended })])]);
const context = (measure: Measure = 'contended', notes: string[] = []): CardContext => ({ report: profile(), measure, notes });
const PLAIN: CardContext = { report: undefined, measure: 'contended', notes: [] };
const picture = { theme: 'dark', text: false } as const;
const list = { theme: 'dark', text: true } as const;

/** The text without the picture's bytes. */
const readable = (parts: string[]): string => parts.join('\n\n').replace(/\(data:[^)]*\)/g, '(picture)') + '\n';

/** 4 KiB in 500 members of 8 bytes and the rest; every tenth has samples, the last lines most. */
function large(size: number, step: number): TypeCard {
  const members: LayoutMember[] = [];
  for (let offset = 0; offset < size && members.length < 500; offset += step)
    members.push(member(`a_rather_long_member_name_${offset}`, offset, step));
  const fields = members
    .filter((_, index) => index % 10 === 0)
    .map(({ name, offset }) => field(name, offset, { stores: offset + 1, writers: [1, 2, 3], contended: offset + 1 }));
  return cardOf(typeHeat(layout('large', size, members), fields));
}

describe('layout card', () => {
  const card = cardOf(queueHeat());

  it('says what the type is, how hot, its members, and how it is known', () => {
    const parts = layoutCard(card, context('contended', ['The source is newer than the binary.']), picture);
    matchGolden('layout-card.md', readable(parts));
  });

  it('has a picture to scale', () => {
    matchGolden('layout-card.svg', cardPicture(card, profile(), 'contended', 'dark').svg + '\n');
  });

  it('says which bytes may be of virtual bases', () => {
    const layoutOfX = { ...layout('X', 152, [member('x', 8, 4)]), unplaced: [{ offset: 12, size: 140, bases: ['W'] }] };
    assert.match(
      layoutCard(plainCard(layoutOfX), PLAIN, list).join('\n'),
      /virtual base W lies\\?: 140 bytes from byte 12 on may be its own/,
    );
  });

  it('says whose types are not known and what was not read', () => {
    const layoutOfX = {
      ...layout('X', 16, [member('x', 0, 16, { type: '(unknown type)', incomplete: true })]),
      align: null,
      missing: { message: 'It continues in a.dwo, which was not found.', nextStep: 'Keep it.' },
    };
    const text = layoutCard(plainCard(layoutOfX), PLAIN, list).join('\n').replaceAll('\\', '');
    assert.match(text, / type of x: .* at most the room .* It continues in a\.dwo, /);
    assert.match(text, /alignment not stated/);
  });

  it('says in a line where other definitions may be, and calls nothing of the layout itself incomplete', () => {
    const missing = { message: 'It continues in b.dwo, which was not found.', nextStep: 'Keep it.' };
    const whole = layout('X', 4, [member('x', 0, 4)]);
    const notes = missingNotes(whole, [missing]);
    assert.deepEqual(notes, ['It continues in b.dwo, which was not found. Definitions that are only there are not shown. Keep it.']);
    const [without, said] = [PLAIN, { ...PLAIN, notes }].map((one) => layoutCard(plainCard(whole), one, list));
    const added = said?.filter((part) => !without?.includes(part)).map((part) => part.replaceAll('\\', ''));
    assert.deepEqual(added, [`*${notes[0]}*`]);
    assert.deepEqual(missingNotes(whole, []), []);
    assert.deepEqual(missingNotes({ ...whole, missing }, [missing]), [], 'the layout says it already');
  });

  it('has a text form', () => {
    const text = readable(layoutCard(card, context(), list)).replaceAll('\\', '');
    for (const part of [
      /\n- line 1, bytes 0–63: 100% .*\n {2}- 0–7: `produced`: 62% of contended samples, .*\(0 reads, 620 writes\)\n/,
      /\n {2}- 20–23: hole of 4 bytes\n[^]*\n {2}- 40–87: `name`, continues .*\n- line 2, bytes 64–127\n/,
      /\n {2}- 40–87: `name`, continued .*\n[^]*\n {2}- 88:1–7: `closed`\n {2}- 92–127: padding of 36 bytes\n/,
    ])
      assert.match(text, part);
    assert.doesNotMatch(text, /!\[|teeth/, 'there is no picture to speak of');
  });

  it('shows a layout alone', () => {
    const text = readable(layoutCard(plainCard(queueHeat().layout), PLAIN, list)).replaceAll('&nbsp;', '');
    assert.match(
      text,
      /^\*\*`struct queue`\*\* · 128 bytes on 2 cache lines, aligned to 64\n\n- line 1, bytes 0–63\n {2}- 0–7: `produced`\n/,
    );
    assert.match(text, /\n\| member \| type \| bytes \| size \|\n.*\n\| `produced` \| `atomic_long` \| 0–7 \| 8 \|\n/);
    assert.equal(text.match(/^\| `/gm)?.length, 8, 'all members are in the table');
    assert.doesNotMatch(text, /samples|reads|writes|evidence/);
    const { svg } = cardPicture(plainCard(queueHeat().layout), undefined, 'contended', 'light');
    assert.doesNotMatch(svg.replace(/<style>.*<\/style>/, ''), /class="h\d/);
  });

  it('says the role of a member once', () => {
    const members = [member('discriminant', 0, 8, { role: 'discriminant' }), member('Base::_vptr', 8, 8, { role: 'vtable pointer' })];
    const text = layoutCard(plainCard(layout('t', 16, members)), PLAIN, picture).join('\n');
    assert.match(text, /\| `discriminant` \|/);
    assert.match(text, /\| `Base::_vptr`\s\(vtable pointer\) \|/);
  });

  it('counts HITMs and cycles where those are measured', () => {
    const of = layout('pair', 16, [member('a', 0, 8), member('b', 8, 8)]);
    const hits = field('a', 0, { loads: 30, hitm: { local: 10, remote: 20 }, meanCycles: 250, readers: [1] });
    const heat = cardOf(typeHeat(of, [hits, field('b', 8, { stores: 9, hitm: { local: 0, remote: 0 }, writers: [2] })]));
    const measured = { ...profile(), evidence: ['hitm', 'latency'] as const, stats: statsOf({ localHitm: 20, remoteHitm: 40 }) };
    const text = readable(
      layoutCard(heat, { report: { ...measured, evidence: [...measured.evidence] }, measure: 'hitm', notes: [] }, picture),
    );
    assert.match(text, /\| member( \| &nbsp;&nbsp;(bytes|size|reads|writes|HITMs|cycles|threads)){7} \|/);
    const plain = text.replaceAll('| &nbsp;&nbsp;', '| ');
    assert.match(plain, /\| \*\*`a`\*\* \| 0–7 \| 8 \| 30 \| 0 \| 30\s\(50%\) \| 250 \| R\s1 \|/);
    assert.match(plain, /\| `b` \| 8–15 \| 8 \| 0 \| 9 \| 0 \| – \| W\s2 \|/);
    assert.match(text, /evidence: \*\*hitm, latency\*\*/);
  });

  it('is short below that of another type of the line', () => {
    const members = Array.from({ length: 6 }, (_, index) => member(`m${index}`, index * 8, 8));
    const fields = members.map(({ name, offset }, index) => field(name, offset, { stores: 10 * (index + 1), writers: [1] }));
    const twin = cardOf(typeHeat(layout('queue', 48, members), fields, { object: 'lib|x.so' }));
    const text = shortCard(twin, context());
    assert.match(
      text,
      /^declared here too, in lib&#124;x\\\.so: \*\*`struct queue`\*\* · 48 bytes on 1 cache line, aligned to 64  \n\*\*false sharing/,
    );
    assert.deepEqual(text.match(/`m\d`/g), ['`m5`', '`m4`', '`m3`', '`m2`']);
    assert.match(text, /2 more members with samples$/);
    assert.doesNotMatch(text, /data:/);
  });

  it('titles the line above a definition, and texts hot members only', () => {
    assert.equal(lensTitle(card, profile(), 'contended'), '2 threads write and 1 reads, 2 lines, false sharing 100%: show layout');
    const { members } = card.layout;
    assert.equal(memberText(card, members[0]!, profile(), 'contended'), 'byte 0 of queue: 62% of contended samples, 1 thread writes');
    assert.equal(memberText(card, members[2]!, profile(), 'contended'), '');
    assert.equal(lensTitle(plainCard(card.layout), profile(), 'contended'), '');
  });

  it('names no type at more length than fits a line', () => {
    const long = `Registry<${'std::map<std::string, int>, '.repeat(40)}int>`;
    const of = cardOf(typeHeat(layout(long, 8, [member('hits', 0, 8)]), [field('hits', 0, { stores: 9, writers: [1] })]));
    const texts = [cardTitle(of), memberText(of, of.layout.members[0]!, profile(), 'contended'), altText(of, context())];
    for (const text of texts) assert.match(text, /^.*Registry<std::.{10,16}…[^…]{15,25}int>.{0,90}$/);
  });
});

describe('text after a line with several members', () => {
  const line = { line: 11 };
  const card = (members: ReturnType<typeof member>[], fields: ReturnType<typeof field>[]): TypeCard =>
    cardOf(typeHeat(layout('pair', 16, members), fields));
  const places = (of: TypeCard): TypePlace[] => of.members.map((one) => ({ card: of, what: 'member', member: one, name: one.member.name }));

  it('knows all that the line declares', () => {
    const fields = [field('right', 8, { stores: 300, writers: [2] })];
    const of = layout('pair', 16, [member('left', 0, 8, line), member('right', 8, 8, line)]);
    const declared =
      typesOf(report([], { types: [typeHeat(of, fields)] }))
        .get('/src/program.c')
        ?.get(line.line) ?? [];
    assert.deepEqual(
      declared.map(({ name }) => name),
      ['left', 'right'],
    );
  });

  it('is about the hottest, and counts the others', () => {
    const fields = [field('left', 0, { stores: 100, writers: [1] }), field('right', 8, { stores: 300, writers: [2] })];
    const both = card([member('left', 0, 8, line), member('right', 8, 8, line)], fields);
    const expected = 'byte 8 of pair: 30% of contended samples, 1 thread writes';
    const of = places(both);
    assert.equal(membersText(of, profile(), 'contended', 0), `right, ${expected} (and 1 more member on this line)`);
    assert.equal(membersText(of.slice(1), profile(), 'contended', 0), expected);
    const cold = card([member('left', 0, 8, line), member('right', 8, 8, line)], fields.slice(1));
    assert.equal(membersText(places(cold), profile(), 'contended', 0), `right, ${expected}`, 'of two, one is hot');
    assert.equal(membersText([], profile(), 'contended', 0), '');
    assert.equal(membersText(of, profile(), 'contended', 30), `right, ${expected}`, 'from a share on');
    assert.equal(membersText(of, profile(), 'contended', 31), '');
  });

  it('does not count a structure and what is inside of it twice', () => {
    const members = [member('in', 0, 16, line), member('in.left', 0, 8, { ...line, depth: 1 })];
    const nested = card(members, [field('in.left', 0, { stores: 100, writers: [1] })]);
    assert.equal(membersText(places(nested), profile(), 'contended', 0), 'byte 0 of pair: 10% of contended samples, 1 thread writes');
  });
});

describe('picture of a type', () => {
  const sizes: [number, number][] = [
    [4096, 8],
    [4096, 1],
    [500, 1],
    [1 << 20, 4096],
    [64, 64],
    [1, 1],
  ];
  for (const [size, step] of sizes) {
    it(`of ${size} bytes in members of ${step} keeps to its room`, () => {
      const card = large(size, step);
      for (const theme of THEMES) {
        const drawn = cardPicture(card, profile(), 'contended', theme);
        assert.ok(drawn.width <= MAX_WIDTH && drawn.height <= MAX_HEIGHT, `${drawn.width} x ${drawn.height}`);
        assert.ok(dataUri(drawn).length <= MAX_URI, `${dataUri(drawn).length} characters`);
      }
      assert.ok(layoutCard(card, context(), picture).join('').length < 90_000, 'a MarkdownString ends at 100,000 characters');
    });
  }

  it('keeps to its room with 512 bit-fields a line', () => {
    const members = Array.from({ length: 4096 }, (_, bit) => member(`b${bit}`, bit >> 3, 1, { bitOffset: bit & 7, bitSize: 1 }));
    const fields = members.map(({ name, offset }, index) => field(name, offset, { size: 1, stores: index % 7, writers: [index % 3] }));
    const drawn = cardPicture(cardOf(typeHeat(layout('bits', 512, members), fields)), profile(), 'contended', 'dark');
    assert.ok(dataUri(drawn).length <= MAX_URI && drawn.height <= MAX_HEIGHT);
  });

  it('shows the hottest of many lines in the order of addresses and folds the others', () => {
    const card = large(4096, 8);
    const rows = cardRows(card, 'contended');
    const shown = rows.flatMap((row) => (row.kind === 'line' ? [row.index] : []));
    const amounts = rows.flatMap((row) => (row.kind === 'line' ? [row.amount] : []));
    assert.equal(shown.length, 4);
    assert.deepEqual(
      shown,
      [...shown].sort((a, b) => a - b),
    );
    const folded = rows.flatMap((row) => (row.kind === 'fold' ? [row] : []));
    assert.equal(folded.reduce((sum, { lines }) => sum + lines, 0) + shown.length, 64);
    const whole = card.heat!.fields.reduce((sum, { contended }) => sum + contended, 0);
    assert.equal(folded.reduce((sum, { amount }) => sum + amount, 0) + amounts.reduce((a, b) => a + b, 0), whole);
    assert.ok(Math.min(...amounts) >= 3000, `a shown line measured ${Math.min(...amounts)}`);
  });

  it('says how many lines have no samples', () => {
    const members = [member('first', 0, 8), member('gap', 8, 1016), member('last', 1024, 8)];
    const heat = typeHeat(layout('t', 1088, members), [field('first', 0, { stores: 4 }), field('last', 1024, { stores: 5 })]);
    const { svg } = cardPicture(cardOf(heat), profile(), 'contended', 'light');
    assert.match(svg, /… 15 lines without samples/);
    assert.match(cardPicture(plainCard(heat.layout), undefined, 'contended', 'light').svg, /… 13 more lines/);
  });

  it('shows the samples of a large array on the lines of its elements', () => {
    const slots = member('slots', 0, 65536, { type: 'int[16384]' });
    const elements = [9000, 9001, 12000].map((index) => field(`slots[${index}]`, 4 * index, { size: 4, stores: 5, writers: [index] }));
    const card = cardOf(typeHeat(layout('table', 65536, [slots]), elements));
    const rows = cardRows(card, 'contended').flatMap((row) => (row.kind === 'line' ? [row] : []));
    assert.deepEqual(
      rows.map(({ index, amount, pieces }) => [index, amount, pieces[0]?.use?.writers]),
      [
        [562, 10, [9000, 9001]],
        [750, 5, [12000]],
      ],
    );
    assert.match(
      readable(layoutCard(card, context(), list)),
      /- line 563, bytes 35968–36031: 67% of what the type measured\n {2}- 0–65535: `slots`, continued from the line before: .*2 threads write/,
    );
  });

  it('shows an array of structures as one, as samples are summed up', () => {
    const slots = member('slots', 0, 128, { type: 'slot[8]' });
    const opened = [
      member('slots[0..7].hits', 0, 8, { depth: 1, elements: 8 }),
      member('slots[0..7].tag', 8, 1, { depth: 1, elements: 8 }),
    ];
    const samples = [field('slots[0].hits', 0, { stores: 5, writers: [1] }), field('slots[3].hits', 48, { stores: 5, writers: [2] })];
    const closed = layout('table', 128, [slots]);
    const whole = { ...layout('table', 128, [slots, ...opened]), holes: [{ offset: 9, size: 7, bits: 0, elements: 8 }] };
    const shown = (of: typeof closed): string[] => layoutCard(cardOf(typeHeat(of, samples)), context(), list);
    assert.deepEqual(shown(whole), shown(closed));
    assert.deepEqual(layoutCard(plainCard(whole), context(), list), layoutCard(plainCard(closed), context(), list));
  });

  it('leaves out names that have no room for more than a letter or two', () => {
    const of = layout('t', 64, [member('alpha', 0, 2), member('beta', 2, 4), member('io', 6, 2), member('gamma', 8, 56)]);
    const { svg } = cardPicture(plainCard(of), undefined, 'contended', 'light');
    assert.deepEqual(
      [...svg.matchAll(/>([^<>]*[a-z][^<>]*)<\/text>/g)].map(([, name]) => name),
      ['beta', 'io', 'gamma'],
    );
  });

  it('hatches holes of bits behind the bit-fields', () => {
    const members = [member('a', 0, 4, { bitOffset: 0, bitSize: 8 }), member('b', 8, 1, { bitOffset: 0, bitSize: 2 })];
    const holes = [
      { offset: 1, size: 0, bits: 24 },
      { offset: 4, size: 4, bits: 0 },
      { offset: 8, size: 0, bits: 6 },
    ];
    const card = plainCard(layout('flags', 16, members, { holes, padding: 7 }));
    const [row] = cardRows(card, 'contended');
    const gaps = row?.kind === 'line' ? row.pieces.filter(({ kind }) => kind !== 'member') : [];
    assert.deepEqual(
      gaps.map(({ start, end }) => [start, end]),
      [
        [1, 4],
        [4, 8],
        [8.25, 9],
        [9, 16],
      ],
    );
    const text = readable(layoutCard(card, PLAIN, list));
    for (const said of ['1–3: hole of 3 bytes', '4–7: hole of 4 bytes', '8:2–7: hole of 6 bits', '9–15: padding of 7 bytes'])
      assert.ok(text.includes(`  - ${said}\n`), `${said} in\n${text}`);
  });

  it('cuts a member that straddles, on both lines', () => {
    const rows = cardRows(cardOf(queueHeat()), 'contended');
    const cuts = rows.flatMap((row) => (row.kind === 'line' ? row.pieces : [])).filter(({ cutLeft, cutRight }) => cutLeft || cutRight);
    assert.deepEqual(
      cuts.map(({ member: of, start, end, cutLeft, cutRight }) => [of?.name, start, end, cutLeft, cutRight]),
      [
        ['name', 40, 64, false, true],
        ['name', 0, 24, true, false],
      ],
    );
  });

  it('says of bit-fields that share their bytes that it may be any of them', () => {
    const bits = ['b1', 'b2', 'b3'].map((name, index) => ({ ...member(name, 8, 4), bitOffset: index * 8, bitSize: 8 }));
    const heat = typeHeat(layout('flags', 16, [member('a', 0, 8), ...bits, member('c', 12, 4)]), [
      { ...field('b1', 8, { stores: 9 }), field: 'b1 | b2 | b3', size: 4 },
    ]);
    assert.match(readable(layoutCard(cardOf(heat), context(), picture)), /\| \*\*`b1`\*\* or `b2`, `b3` \|/);
    assert.equal(cardOf(heat).outside, undefined);
  });

  it('draws the members of a union above each other, the hot ones first, and counts those without room', () => {
    const members = Array.from({ length: 5 }, (_, index) => member(`v${index}`, 0, 8));
    const heat = typeHeat(layout('u', 8, members, { kind: 'union' }), [field('v4', 0, { stores: 9 })]);
    const [row] = cardRows(cardOf(heat), 'contended');
    assert.ok(row?.kind === 'line');
    assert.equal(row.pieces[0]?.member?.name, 'v4');
    assert.deepEqual(
      row.pieces.map(({ track, tracks }) => [track, tracks]),
      [
        [0, 3],
        [1, 3],
        [2, 3],
      ],
    );
    assert.equal(row.hidden, 2);
    const text = readable(layoutCard(cardOf(heat), context(), picture));
    assert.match(text, /2 members on the same bytes as others are not drawn/);
    assert.match(text, /\| \*\*`v4`\*\* or `v0`, `v1`, `v2` and 1 more \|/);
    assert.doesNotMatch(text, /without samples/, 'whose they are nobody knows');
    assert.match(
      readable(layoutCard(cardOf(heat), context(), list)),
      /`v4`: .*\(0 reads, 9 writes\)\n {2}- 0–7: `v0`, on the same bytes as `v4`\n/,
    );
    const { svg } = cardPicture(cardOf(heat), profile(), 'contended', 'dark');
    assert.equal(svg.match(/class="h\d"/g)?.length, 3, 'the bytes are hot, whichever member they are');
    assert.deepEqual(
      [...svg.matchAll(/<text class="r"[^>]*>(v\d)</g)].map(([, name]) => name),
      ['v4', 'v0', 'v1'],
    );
  });

  it('draws instances that all begin at the same byte of a line as they lie', () => {
    const members = [member('count', 0, 8), member('wide', 4, 8, { straddles: false }), member('other', 12, 4)];
    const of = layout('queue', 16, members, { align: 4 });
    const heat = typeHeat(of, [field('count', 0, { stores: 9 }), field('other', 12, { size: 4, stores: 3 })]);
    const card = cardOf(heat);
    const profileAt = (base: string, types = [heat], at = 56): Report => {
      const data = { object: '[heap]', offset: 4000, type: 'struct queue[4]', field: 'count', base, definition: null };
      return report([cacheLine([access({ writes: 12, offset: at, data })], { address: '0x7f0000000080' })], { types });
    };
    const text = (made: Report, style = picture as typeof picture | typeof list): string =>
      readable(layoutCard(card, { report: made, measure: 'contended', notes: [] }, style)).replaceAll('\\', '');

    const third = profileAt('0x7f0000000098'); // its third element begins at byte 56
    assert.match(text(third), /Drawn as the instance measured here lies: from byte 56 of a cache line\. 1 member straddles/);
    assert.match(text(third, list), /- line 1, bytes 0–7: 75%[^]*- line 2, bytes 8–15: 25%[^]*12–15: `other`/);
    assert.deepEqual(
      cardRows(card, 'contended', 56).flatMap((row) =>
        row.kind === 'line' ? row.pieces.map((piece) => [piece.member?.name, piece.start, piece.end]) : [],
      ),
      [
        ['count', 56, 64],
        ['wide', 60, 64],
        ['wide', 0, 4],
        ['other', 4, 8],
      ],
    );
    assert.match(cardPicture(card, third, 'contended', 'dark').svg, />\+0<.*>75%<.*>\+8<.*>25%</);

    assert.doesNotMatch(text(profileAt('0x7f0000000080', [heat], 0)), /Drawn/, 'it begins with the line');
    const twin = typeHeat({ ...of, size: 24 }, heat.fields);
    assert.match(
      text(profileAt('0x7f0000000098', [heat, twin])),
      /instances may begin at any multiple of 4 bytes/,
      'which of the two it is nobody knows',
    );
  });

  it('of types without members or bytes is a picture too', () => {
    for (const size of [0, 1]) {
      const card = plainCard(layout('empty', size, []));
      assert.match(cardPicture(card, undefined, 'contended', 'dark').svg, /^<svg .*<\/svg>$/);
      assert.match(readable(layoutCard(card, PLAIN, picture)), /It has no members\./);
    }
  });

  it('never divides bytes it does not have: members beyond the size are cut', () => {
    const lying = layout('lies', 8, [member('far', 4096, 8), member('long', 4, 1 << 30)]);
    for (const row of cardRows(plainCard(lying), 'contended'))
      if (row.kind === 'line') for (const { start, end } of row.pieces) assert.ok(start >= 0 && end <= 8);
  });
});

describe('hostile names in a card', () => {
  const HOSTILE = [
    '](command:evil) ![x](https://evil.example/x.png)',
    '<img src=x onerror=alert(1)><script>alert(1)</script>',
    'a | b | c\n\n# head\n```\n',
    '</text><image href="https://evil.example"/>&amp;"\'',
    '\u202egnp.exe\u0000\u001b[31m\ufffe\ud800',
    '$(zap) **bold** _x_ ~~y~~ https://evil.example',
  ];
  const members = HOSTILE.map((name, index) => member(name, index * 8, 8, { type: name }));
  const heat = typeHeat(
    layout(HOSTILE[0]!, 64, members),
    members.map(({ name, offset }) => field(name, offset, { stores: 5, writers: [1] })),
  );
  const texts = [picture, list].flatMap((style) => [
    readable(layoutCard(cardOf(heat), context('contended', [HOSTILE[1]!]), style)),
    readable(layoutCard(plainCard(heat.layout), PLAIN, style)),
  ]);

  it('make no links, images, HTML, headings or rows', () => {
    for (const text of texts) {
      // Within code nothing means anything; behind a backslash neither;
      // and an alternative text ends at the first bracket.
      const live = text
        .replace(/!\[[^\]]*\](?=\(picture\))/g, '![]')
        .replace(/\\./g, 'x')
        .replace(/`[^`\n]*`/g, 'x');
      assert.doesNotMatch(live, /\]\((?!picture\))|<[a-z/!]|https?:|\$\(|```/i, live);
      for (const row of live.split('\n').filter((line) => line.startsWith('|'))) assert.doesNotMatch(row, /evil/);
      assert.doesNotMatch(text, /[\u0000\u001b\u202e\ud800]/);
      const widths = new Set(
        live
          .split('\n')
          .filter((line) => line.startsWith('|'))
          .map((line) => line.split('|').length),
      );
      assert.ok(widths.size <= 1, `rows of different widths: ${[...widths].join()}`);
    }
  });

  it('are character data in the picture', () => {
    const { svg } = cardPicture(cardOf(heat), profile(), 'contended', 'dark');
    assert.doesNotMatch(svg, /<(script|image|img|foreignObject|a)\b/);
    assert.doesNotMatch(svg, /[\u0000-\u0008\u001b\ufffe\uffff]/);
    assert.equal(svg.match(/<text/g)?.length, svg.match(/<\/text>/g)?.length);
    assert.equal(escapeXml('<a href="x">&\'\u0001\ufffe'), '&lt;a href=&quot;x&quot;&gt;&amp;&#39;\\x01\ufffd');
  });

  it('are said as they are in the alternative text', () => {
    assert.ok(altText(cardOf(heat), context()).includes('](command:evil)'), 'it is escaped where it becomes Markdown');
  });
});
