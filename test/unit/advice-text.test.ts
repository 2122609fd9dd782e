// The text of advice: the page of changes, widths, untrusted names, and the sentences of every kind.
import assert from 'node:assert/strict';
import type { Advice, AdviceList, Change } from '../../extension/protocol/advice';
import { adviceText } from '../../extension/session/advice/advice-text';
import {
  actionTitle,
  costSentences,
  ownerText,
  doText,
  factor,
  gainSentences,
  latentSentences,
  luckSentences,
  noChangeReason,
  whySentence,
} from '../../extension/session/advice/advice-words';
import { reorderCommand } from '../../extension/session/advice/by-hand';
import { COLOURED, displayWidth } from '../../extension/session/text/terminal-text';
import { advice, adviceList, changes, hostile, latent, membersChange, typeReference, words } from './advice-builder';
import { matchGolden } from './golden';

const text = (list: AdviceList, width: number): string => adviceText(list, { width, path: 'server.cacheline', folder: '/code' });

describe('advice text', () => {
  it('of changes in 80 columns', () => matchGolden('advice-changes-80.txt', text(changes, 80)));

  it('calls what has a type without a name by its object, and asserts nothing of such a type', () => {
    const type = typeReference('struct {...}', '/code/src/slots.c', 3, ['reads', 'writes']);
    const subject = { type: type.name, object: 'slots', members: [] };
    for (const change of [
      membersChange(type, [[0], [1]]),
      membersChange(type, [[1], [0]]),
      { kind: 'align-type', type, alignment: 64, size: 64 } as unknown as Change,
    ]) {
      const said = text(adviceList([advice({ subject, definition: type.definition, change })]), 200);
      assert.match(said, /1\. slots: /);
      assert.doesNotMatch(said, /\{\.\.\.\}|assert|clang-reorder/);
    }
    assert.match(text(adviceList([advice({ subject: { ...subject, type: 'Slots' } })]), 200), /1\. slots \(Slots\): /);
  });

  it('has for each place that no edit changes the words of its kind', () => {
    const [head, ...places] = text(words, 80)
      .split(/\n\n(?=\d\. |By hand)/)
      .map((part) => part.replace(/\s+/g, ' '));
    assert.match(head!, /\(50\.0%\).* lost .* 5 layout changes .* 2 places /);
    const wanted = [
      /^1\. counters \(long\): false sharing, 40\.0% .* first member has `_Alignas\(64\)` .* Edit: none, at src\/count\.c:3\./,
      /^2\. objects of session: .*'open' .*`aligned_alloc\(64, SIZE\)`.* 80 bytes in total.* Edit: none\. .*session\.c:44 calls calloc\(\)/,
      /^3\. ring: true sharing, .* indices of a ring buffer.* cache line for each help\. It is defined at src\/ring\.c:12\.$/,
      /^4\. state: true sharing, .*'lock' is a lock; .*'total' only while they hold it.* Take the lock less often/,
      /^5\. objects of app::Slot: .*begin in the middle of a cache line.*`#\[repr\(align\(128\)\)\]`.*CachePadded.* Edit: none\. .* Rust/,
      /^6\. main\.shards \(main\.shard\): .*`_ cpu\.CacheLinePad`/,
      /^7\. objects of Clock: .* Luck of placement: .* Edit: none, at src\/worker\.cpp:12\. The source is gone\.$/,
      /^By hand - .*hardware_destructive_interference_size/,
    ];
    assert.equal(places.length, wanted.length);
    for (const [at, part] of wanted.entries()) assert.match(places[at]!, part);
    assert.doesNotMatch(text(words, 80), /git apply/);
  });

  it('is no wider than it may be, but for words to be copied', () => {
    for (const list of [changes, words, hostile])
      for (const width of [40, 57, 80, 200])
        for (const line of text(list, width).split('\n'))
          assert.ok(displayWidth(line) <= width || /^ {5}\S+(?: \\)?$/.test(line), `${width}: ${line}`);
  });

  it('makes untrusted names harmless', () => {
    for (const width of [80, 200]) {
      assert.doesNotMatch(text(hostile, width), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      assert.match(text(hostile, width), /\\x1b\[31mT/);
    }
  });

  it('says that there is no advice, and still what placement decides', () => {
    assert.match(text(adviceList([]), 80), /\n\nNo advice: no data [^]*waiting\s+for\s+other\s+threads\. `cacheline report`\s/);
    assert.match(text(adviceList([], { latent: [latent()] }), 80), /see below[^]*What placement decides/);
  });

  it('says once what the recording could not see and what the report warns of: what most of it hides comes first', () => {
    const blind = { share: 0.3, reasons: [{ reason: 'lost' as const, what: 'samples that were lost while recording', share: 0.3 }] };
    const warnings = ['Threads took turns on one CPU.', 'What contention costs is not known.'];
    const some = text(adviceList([advice()], { blind, warnings }), 200);
    assert.match(some, /\n\n1 layout change ends waiting\. [^]*?\s30\.0% of this program's time/);
    assert.match(some, /\nWarnings\n {2}Threads took turns on one CPU\.\n {2}What contention costs is not known\.\n/);
    assert.equal(some.split('Nothing can be said').length + some.split('took turns').length, 4);
    const most = { share: 0.7, reasons: [{ ...blind.reasons[0]!, share: 0.7 }] };
    assert.match(text(adviceList([], { blind: most }), 200), /\n\nMost of this program's time \(70\.0%\) was in [^]* No advice: /);
    assert.match(text(adviceList([], { blind: most, evidence: ['hitm'] }), 200), /\n\nMost of this program's samples /);
  });

  it('names the command that makes the edits, with its recording quoted for a shell', () => {
    const options = { width: 80, path: "it's here", folder: '/' };
    assert.match(adviceText(adviceList([advice()]), options), /cacheline advise --patch 'it'\\''s here' \| git apply/);
    const none = adviceList([advice({ edit: { patch: null, reason: 'No.' } })]);
    assert.doesNotMatch(adviceText(none, options), /git apply/);
  });

  it('is bold in its headings alone', () => {
    const bold = adviceText(changes, { width: 80, path: 'a', folder: '/', style: COLOURED });
    const plain = bold.replace(/\u001b\[\d+m/g, '');
    assert.equal(plain, adviceText(changes, { width: 80, path: 'a', folder: '/' }));
    assert.ok(bold.includes('\u001b[1m1. workers (Worker): false sharing'));
  });
});

describe('advice sentences', () => {
  it('write factors with as many digits as say something, and thousands apart', () => {
    assert.deepEqual([0.974, 1.5, 12.4, 1667.2].map(factor), ['0.97', '1.5', '12', '1,667']);
  });

  const gain = (predicted: Partial<Advice['predicted']>): string =>
    gainSentences(advice({ predicted: { ...advice().predicted, ...predicted } }));

  it('say what is predicted, with its bounds and what it rests on', () => {
    assert.match(gain({}), /^None of the waiting .* 2\.1 times as fast with 2 CPUs, between 1\.8 and 2\.4 \(clock, calibrated\)\.$/);
    assert.match(gain({ cpus: 1 }), /2\.1 times as fast with 1 CPU, between/);
    assert.match(gain({ cpus: null }), /2\.1 times as fast, between/);
    assert.match(
      gain({ contendedLeft: 0.25, speedup: { low: 9.5, mid: 10, high: 120 } }),
      /25\.0% .* runs 10 times as fast with 2 CPUs, between 9\.5 and 120/,
    );
    assert.match(gain({ contendedLeft: 0.25, trulyLeft: 0.2 }), /^25\.0% .* remains .* 20\.0% is true sharing/);
    const alike = gain({ speedup: { low: 2.188, mid: 2.19, high: 2.192 } });
    const bound = gain({ speedup: { low: 1, mid: 1.6, high: 3 }, basis: 'clock, calibrated, bound' });
    assert.match(bound, /at most 3 times as fast with 2 CPUs \(clock, calibrated, bound\).* bounds are known\.$/);
    assert.match(
      gain({ speedup: { low: 1.2, mid: 1.6, high: 3 }, basis: 'clock, calibrated, bound' }),
      /runs between 1\.2 and 3 times as fast with 2 CPUs/,
    );
    assert.match(alike, /runs 2\.19 times as fast with 2 CPUs \(clock, calibrated\)\.$/, 'bounds that are written alike are not said');
  });

  it('say why nothing is predicted, and what to do about it', () => {
    assert.match(
      gain({ speedup: null, mostSpeedup: 1.5, basis: 'clock, not calibrated' }),
      /at most 1\.5 times as fast with 2 CPUs\. Run `cacheline doctor --calibrate`/,
    );
    const memory = gain({ speedup: null, mostSpeedup: 1, excessCycles: 0.4, basis: 'hitm' });
    assert.match(memory, /saves 40\.0% .*\(hitm\) cannot tell how much faster/);
  });

  it('say what it costs, and nothing where nothing changes', () => {
    const cost = { bytesPerInstance: 0, bytesTotal: 0, abi: true, readerLines: { before: 1, after: 1 } };
    assert.match(costSentences(advice({ cost })), /^It takes no more memory\. Code outside this binary/);
    assert.match(
      costSentences(advice({ cost: { ...cost, bytesPerInstance: 8, bytesTotal: null } })),
      /grows by 8 bytes; how many there are is not known\./,
    );
    assert.equal(costSentences(advice({ way: 'none' })), '');
    assert.equal(gainSentences(advice({ way: 'none' })), '');
  });

  it('say that a library owns the type', () => {
    const of = (file: string): Advice => {
      const type = typeReference('Queue<int>', file, 3, ['a', 'b']);
      return advice({ definition: { file, line: 3 }, change: { kind: 'align-type', type, alignment: 64 } });
    };
    assert.match(ownerText(of('/usr/include/lib/queue.hpp')), /A library owns the type 'Queue<int>', in \/usr\/include\/lib\/queue\.hpp/);
    assert.equal(ownerText(of('/code/src/queue.hpp')), '');
  });

  it('tell of two sides that each write a word only where that was seen', () => {
    const none = { way: 'none', why: 'true-sharing', change: null } as const;
    const subject = { type: 'Ring', object: 'ring', members: ['head', 'tail'] };
    assert.match(doText(advice({ ...none, subject, twoSides: true })).sentence, /private copy/);
    assert.doesNotMatch(doText(advice({ ...none, subject, twoSides: false })).sentence, /private copy/);
  });

  it('say what to do in the language of the definition', () => {
    const of = (file: string, binary: string, given: Partial<Advice> = {}): string => {
      const type = { ...typeReference('Slot', file, 3, ['a', 'b']), binary };
      const change = { kind: 'align-type' as const, type, alignment: 64 };
      return doText(advice({ definition: { file, line: 3 }, change, ...given })).sentence;
    };
    assert.match(of('a.c', 'a'), /`_Alignas\(64\)` \(C23: `alignas\(64\)`\) before the first member of 'Slot'/);
    assert.match(of('a.cc', 'a'), /`struct alignas\(64\)`\.$/);
    assert.match(of('a.rs', 'a'), /`#\[repr\(align\(64\)\)\]`.*CachePadded/);
    assert.match(of('a.go', 'a'), /cpu\.CacheLinePad/);
    // A type of that name can be of either; and C and C++ have headers in common.
    assert.match(of('', 'a', { language: 'rust' }), /`#\[repr\(align\(64\)\)\]`/);
    assert.match(of('', 'a', { language: 'go' }), /cpu\.CacheLinePad/);
    assert.match(of('a.h', 'a', { language: 'c' }), /`_Alignas\(64\)` \(C23: /);
    assert.match(of('a.h', 'a', { language: 'c++' }), /`struct alignas\(64\)`\.$/);
    assert.match(of('', 'a', { language: null }), /`struct alignas\(64\)` \(C: /);
    for (const binary of ['/lib/modules/6.1/net/x.ko.zst', 'vmlinux', '[kernel.kallsyms]_text'])
      assert.match(of('a.c', binary), /____cacheline_aligned_in_smp/);
    for (const way of ['per-thread', 'split', 'stride', 'allocate', 'reorder'] as const)
      for (const file of ['a.c', 'a.h', 'a.cc', 'a.rs', 'a.go'])
        assert.match(of(file, 'a', { way, change: null, definition: { file, line: 3 } }), /^[A-Z].*[.:]$/, `${way} ${file}`);
    const kernel = doText(
      advice({ change: membersChange({ ...typeReference('T', 'a.c', 1, ['a', 'b']), binary: 'vmlinux' }, [[0], [1]]) }),
    );
    assert.match(kernel.sentence, /__cacheline_group_begin/);
  });

  it('say of a lock what to do about a lock, and of other shared data how to write less often', () => {
    const shared = (locks: Advice['locks']): string =>
      doText(advice({ way: 'none', why: 'true-sharing', change: null, locks, subject: { type: 'Account', object: '', members: ['lock'] } }))
        .sentence;
    assert.match(shared([{ name: 'lock', data: [] }]), /Take the lock less often/);
    for (const locks of [[{ name: 'other', data: [] }], []]) assert.match(shared(locks), /sharing less often .* does\.$/);
  });

  it('never say of a lock, or of data that is no sum, how to add up copies', () => {
    const of = (type: string): ReturnType<typeof doText> =>
      doText(advice({ way: 'none', why: 'true-sharing', change: null, subject: { type, object: 'at', members: [] } }));
    for (const type of [
      ...['pthread_mutex_t', 'pthread_rwlock_t', 'std::mutex', 'std::shared_timed_mutex', 'sync.Mutex', 'sync.RWMutex'],
      ...['std::sync::poison::mutex::Mutex<i32>', 'std::sys::sync::mutex::futex::Mutex', 'lock_api::rwlock::RwLock<a::B, c>', 'Mutex'],
    ])
      assert.match(of(type).sentence, /^Moving data apart does not help\. Take the lock less often/, type);
    for (const type of ['Account', 'mutex_statistics', 'std::mutexes', 'HashMutexMap<long>', 'long'])
      assert.match(of(type).sentence, /sharing less often/, type);
    for (const type of ['std::mutex', 'long']) assert.deepEqual(of(type).lines, []);
    // The engine says of a sum that it is one.
    assert.match(doText(advice({ way: 'per-thread', change: null })).lines.join('\n'), /copies/);
  });

  it('say to put variables apart in words of their language', () => {
    const variables = [{ name: 'main.hits', type: 'long', size: 8, definition: { file: '', line: 0 } }];
    const of = (language: Advice['language']): string =>
      doText(advice({ language, change: { kind: 'align-variables', binary: 'a', variables, alignment: 64 } })).sentence;
    assert.match(of('c'), /write `_Alignas\(64\)` .* before 'main\.hits'\.$/);
    assert.match(of('c++'), /write `alignas\(64\)` before 'main\.hits'\.$/);
    assert.match(of('rust'), /hold 'main\.hits' in `crossbeam_utils::CachePadded`\.$/);
    assert.match(of('go'), /`_ cpu\.CacheLinePad` .* before and after/);
    for (const language of ['rust', 'go'] as const) assert.doesNotMatch(of(language), /alignas/i);
  });

  it('tell of a constant of C++ where the code is C++', () => {
    const of = (language: Advice['language']): string => text(adviceList([advice({ language })]), 80);
    assert.match(of('c++'), /hardware_destructive_interference_size/);
    for (const language of ['c', 'rust', 'go', null] as const) assert.doesNotMatch(of(language), /interference/);
  });

  it('call elements without a variable by their type', () => {
    const stride = (object: string): string =>
      doText(advice({ way: 'stride', change: null, subject: { type: 'Slot', object, members: [] } })).sentence;
    assert.match(stride('slots'), /^Give each element of 'slots' /);
    assert.match(stride(''), /^Give each element of an array of 'Slot' /);
  });

  it('say what each thread can do about numbers that it uses alone', () => {
    const of = (elementsInRow: number | null, given: Partial<Advice> = {}): Advice =>
      advice({ way: 'stride', change: null, subject: { type: 'double', object: 'main::sums[]', members: [] }, elementsInRow, ...given });
    assert.match(doText(of(1)).sentence, /^Give each element of 'main::sums\[\]' .* Or let each thread, .* local variable/);
    assert.doesNotMatch(doText(of(null)).sentence, /local variable/);
    assert.match(doText(of(6)).sentence, /^Start each thread's row of 'main::sums\[\]' .* a multiple of 64 bytes; .* 6 elements in a row/);
    assert.match(whySentence(of(6)), /in rows, and rows of different threads share/);
    assert.match(costSentences(of(6)), /^Each row grows by 56 bytes/);
    assert.match(noChangeReason(of(1)), /--heap/);
    const known = noChangeReason(of(1, { allocation: { function: 'main', file: '/src/a.c', line: 7 } }));
    assert.match(known, /allocated in 'main' \(a\.c:7\)\.$/);
    assert.doesNotMatch(known, /--heap/);
    assert.doesNotMatch(noChangeReason(of(1, { subject: { type: 'double', object: 'sums', members: [] } })), /--heap/);
  });

  it('name the members that are split off', () => {
    const type = typeReference('page', '/a.c', 1, ['key', 'uses', 'owner', 'dirty']);
    const split = (...parts: number[][]): Advice =>
      advice({ way: 'split', change: { kind: 'split-members', type, parts: parts.map((members) => ({ size: 8, members })) } });
    assert.match(doText(split([1])).sentence, /^Move 'uses' out of 'page' into an array/);
    const two = doText(split([1], [2, 3]));
    assert.match(two.sentence, /^Move these members out of 'page'/);
    assert.deepEqual(two.lines, ['- uses', '- owner, dirty']);
    assert.equal(actionTitle(split([1], [2, 3])), "Move 'uses', 'owner' and 'dirty' out of 'page' (predicted 2.1x)");
  });

  it('say what little a layout gains, and offer it all the same', () => {
    const speedup = { low: 1, mid: 1.01, high: 1.02 };
    const little = advice({ predicted: { ...advice().predicted, speedup, mostSpeedup: 1.02, threadsOnly: true } });
    assert.match(gainSentences(little), /None of the waiting here remains .*1\.01 times as fast with 2 CPUs, between 1 and 1\.02/);
    assert.equal(noChangeReason(little), '');
  });

  it('say only that there are too few samples where these leave all open', () => {
    const open = advice({
      ...{ way: 'none', why: 'not-known', change: null, sure: false, falseShare: { value: 0.5, low: 0.1, high: 0.9 } },
      edit: { patch: null, reason: noChangeReason(advice({ way: 'none', change: null })) },
    });
    const text = adviceText(adviceList([open]), { width: 400, path: 'a.cacheline', folder: '/code' }).replace(/\s+/g, ' ');
    assert.match(text, /At 1 place there are too few samples to tell\./);
    assert.match(text, /too few samples to tell whether moving data apart helps: record for about 10 seconds/);
    assert.doesNotMatch(text, /does not help|Confidence|No layout/);
  });

  it('title actions by what they do, with the prediction', () => {
    const type = typeReference('Stats', '/a.c', 1, ['name', 'ticks', 'errors', 'cold']);
    const title = (groups: number[][], members: string[]): string =>
      actionTitle(advice({ subject: { type: 'Stats', object: '', members }, change: membersChange(type, groups) }));
    assert.equal(title([[0, 2, 3], [1]], ['ticks']), "Give 'ticks' a cache line of its own (predicted 2.1x)");
    assert.equal(title([[0, 3], [1], [2]], ['ticks', 'errors']), "Give 'ticks' and 'errors' cache lines of their own (predicted 2.1x)");
    assert.equal(
      title(
        [
          [0, 1],
          [2, 3],
        ],
        ['ticks'],
      ),
      "Split the members of 'Stats' over cache lines, starting at 'errors' (predicted 2.1x)",
    );
    assert.equal(actionTitle(advice()), "Give each 'Worker' cache lines of its own (predicted 2.1x)");
    assert.equal(actionTitle(changes.advice[3]!), "Give 'messages_written' and 'messages_read' cache lines of their own");
  });

  it('give the command that reorders initialisers, quoted for a shell, where members change their order', () => {
    const type = typeReference('T<$(id)>', "/it's.c", 1, ['a', 'b']);
    const swapped = advice({ change: membersChange(type, [[1], [0]]) });
    assert.equal(reorderCommand(swapped), "clang-reorder-fields -i -record-name 'T<$(id)>' -fields-order b,a '/it'\\''s.c'");
    assert.equal(reorderCommand(advice({ change: membersChange(type, [[0], [1]]) })), undefined);
  });

  it('say at which places an object shares a line with itself', () => {
    assert.match(latentSentences(latent()), /^'Clock\.limit' and 'Clock\.now' .* 64 bytes .* 3 of 4 placements, .* 0, 16 or 32 bytes/);
    const pair = { lineSize: 128, pairs: [['a', 'b'] as [string, string], ['a', 'c'] as [string, string]] };
    const many = latent({ placements: Array.from({ length: 7 }, (_, at) => ({ ...pair, baseOffset: 16 * at })) });
    assert.match(latentSentences(many), /^Members of 'Clock' .* 128 bytes .* 7 of 8 placements/);
    const one = latent({ placements: [{ ...pair, baseOffset: 32 }] });
    assert.match(latentSentences(one), / 128 bytes where .* 32 bytes after/, 'the alignment is not told');
  });

  it('say that waiting is luck of placement, and of other waiting nothing', () => {
    const lucky = advice({ subject: { type: 'Clock', object: '', members: ['now', 'limit'] }, placements: latent().placements });
    assert.match(luckSentences(lucky), /^Luck of placement: 'Clock\.limit' and 'Clock\.now' .* 3 of 4 placements/);
    assert.match(text(adviceList([lucky]), 200), /Luck of placement: /);
    assert.equal(luckSentences(advice()), '');
  });
});
