// The drawing of `cacheline where`: a box for each NUMA node with its memory, its caches and its CPUs, and below it the threads
// over time in the colours of the nodes that they ran on.
import type { LiveWhere, MachineTopology, WhereNode } from '../../protocol/where';
import { escapeXml } from '../layout/layout-card-svg';
import { percent } from '../../protocol/words';
import { byteSize, plural, shortenEnd } from '../text/terminal-text';
import { cacheKinds } from './topology-text';
import { cacheName, cacheSize, nodesByCpu, overTime, runByCpu, sum } from './where-values';

/** Pixels. */
const WIDTH = 960;
const MARGIN = 16;
const CELL_WIDTH = 28;
const CELL_HEIGHT = 20;
const CORE_GAP = 5;
const PAD = 8;
const LINE = 16;
const BAR_HEIGHT = 12;
const TIME_LEFT = 220;
const TIME_COLUMNS = 60;
const MOST_THREADS = 40;
/** Of a CPU that ran most; none is darker. */
const STRONGEST = 0.85;

/** Okabe and Ito's colours, which people with any colour vision tell apart; node 8 has that of node 0 again. */
const NODE_COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#999999'] as const;

/** CPUs that share the largest cache, core by core. */
interface Group {
  label: string;
  cores: number[][];
}

/** Shapes, and the height that they take. */
interface Part {
  shapes: string[];
  height: number;
}

/** A whole SVG document; names of threads and processes in it are escaped. */
export function whereSvg(where: LiveWhere): string {
  const busiest = Math.max(1, ...runByCpu(where).values());
  const shapes: string[] = [];
  let y = MARGIN;
  const add = (part: Part): void => {
    shapes.push(...part.shapes);
    y += part.height;
  };
  for (const node of where.nodes) add(nodePart(node, where, busiest, y));
  shapes.push(text(MARGIN, y + 12, legend(where.machine), 's'));
  y += LINE + PAD;
  add(threadsPart(where, y));
  for (const line of lines(where.conclusion, 130)) {
    shapes.push(text(MARGIN, y + 12, line));
    y += LINE;
  }
  if (where.command !== null) {
    shapes.push(text(MARGIN, y + 12, shortenEnd(where.command, 130), 'c'));
    y += LINE;
  }
  const height = y + MARGIN;
  const style =
    `text{font:12px Consolas,Menlo,'DejaVu Sans Mono',monospace;fill:#1f1f1f}.h{font-weight:bold}.s{font-size:10px}.c{fill:#0072b2}` +
    `.m{text-anchor:middle}.b{fill:none;stroke:#8c8c8c}.o{stroke:#8c8c8c;stroke-width:.6}`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">` +
    `<style>${style}</style><rect width="${WIDTH}" height="${height}" fill="#ffffff"/>${shapes.join('')}</svg>\n`
  );
}

function nodePart(node: WhereNode, where: LiveWhere, busiest: number, top: number): Part {
  const total = sum(where.nodes.map(({ bytes }) => bytes ?? 0));
  const share = node.bytes !== null && total > 0 ? node.bytes / total : null;
  const memory = node.bytes === null ? 'memory not known' : `memory ${byteSize(node.bytes)}`;
  const colour = nodeColour(node.id);
  const x = MARGIN + PAD;
  const barLeft = 420;
  const barWidth = WIDTH - MARGIN - PAD - barLeft;
  const shapes = [
    `<rect x="${x}" y="${top + PAD}" width="12" height="12" fill="${colour}"/>`,
    text(
      x + 18,
      top + PAD + 11,
      `node ${node.id}${packageOf(node, where.machine)}: ${memory}${share === null ? '' : `, ${percent(share)}`}`,
      'h',
    ),
    rect(barLeft, top + PAD, barWidth, BAR_HEIGHT, 'class="b"'),
    ...(share === null ? [] : [rect(barLeft, top + PAD, barWidth * share, BAR_HEIGHT, `fill="${colour}"`)]),
  ];
  const groups = groupsOf(node, where.machine);
  const ran = runByCpu(where);
  let left = x;
  let y = top + PAD + LINE + 6;
  const groupHeight = LINE + CELL_HEIGHT + PAD;
  for (const group of groups) {
    for (const [index, row] of rowsOf(group, WIDTH - 2 * (MARGIN + PAD) - 2 * PAD).entries()) {
      const width = widthOf(row) + 2 * PAD;
      if (left > x && left + width > WIDTH - MARGIN - PAD) {
        left = x;
        y += groupHeight + 4;
      }
      shapes.push(rect(left, y, width, groupHeight, 'class="b"'));
      shapes.push(text(left + PAD, y + 12, index === 0 ? clipLabel(group.label, width) : '…', 's'));
      let cell = left + PAD;
      for (const core of row) {
        for (const cpu of core) {
          const opacity = Math.round(((ran.get(cpu) ?? 0) / busiest) * STRONGEST * 100) / 100;
          shapes.push(
            rect(cell, y + LINE, CELL_WIDTH, CELL_HEIGHT, `class="o" fill="${colour}" fill-opacity="${opacity}"`),
            text(cell + CELL_WIDTH / 2, y + LINE + 14, String(cpu), 's m'),
          );
          cell += CELL_WIDTH;
        }
        cell += CORE_GAP;
      }
      left += width + PAD;
    }
  }
  const height = y + (groups.length > 0 ? groupHeight : 0) + PAD - top;
  shapes.push(rect(MARGIN, top, WIDTH - 2 * MARGIN, height, 'class="b"'));
  return { shapes, height: height + PAD };
}

/** " (package 0)"; empty where the kernel does not say, or the node has CPUs of several. */
function packageOf({ cpus }: WhereNode, { packages }: MachineTopology): string {
  const own = packages.find((candidate) => cpus.length > 0 && cpus.every((cpu) => candidate.cpus.includes(cpu)));
  return own === undefined ? '' : ` (package ${own.id})`;
}

/** How to read the CPUs, and the caches that no box stands for. */
function legend({ caches, numa }: MachineTopology): string {
  const highest = Math.max(0, ...caches.map(({ level }) => level));
  const lower = cacheKinds(caches.filter(({ level }) => level < highest)).flatMap(([first]) =>
    first === undefined ? [] : [`${cacheName(first)} ${cacheSize(first.bytes)} for ${plural(first.cpus.length, 'CPU')}`],
  );
  const nodes = numa ? '' : 'The kernel has no NUMA nodes. ';
  return `${nodes}CPUs that touch belong to one core; darker ones ran longer.${lower.length > 0 ? ` ${lower.join(', ')}.` : ''}`;
}

/** The caches of the highest level that is there, with the node's CPUs; those without one are a group, too. */
function groupsOf(node: WhereNode, { caches, cores }: MachineTopology): Group[] {
  const highest = Math.max(0, ...caches.map(({ level }) => level));
  const coreOf = new Map(cores.flatMap((core, index) => core.cpus.map((cpu) => [cpu, index] as const)));
  const left = new Set(node.cpus);
  const groups: Group[] = [];
  const add = (label: string, cpus: readonly number[]): void => {
    const byCore = new Map<string, number[]>();
    for (const cpu of cpus) {
      left.delete(cpu);
      const core = coreOf.get(cpu);
      const key = core === undefined ? `cpu ${cpu}` : `core ${core}`;
      byCore.set(key, [...(byCore.get(key) ?? []), cpu]);
    }
    if (byCore.size > 0) groups.push({ label, cores: [...byCore.values()] });
  };
  for (const cache of caches)
    if (cache.level === highest && cache.type !== 'Instruction')
      add(
        `${cacheName(cache)} ${cacheSize(cache.bytes)}`,
        cache.cpus.filter((cpu) => left.has(cpu)),
      );
  add('CPUs', [...left]);
  return groups;
}

/** The cores in rows that fit. */
function rowsOf({ cores }: Group, room: number): number[][][] {
  const rows: number[][][] = [];
  for (const core of cores) {
    const last = rows.at(-1);
    if (last !== undefined && widthOf([...last, core]) <= room) last.push(core);
    else rows.push([core]);
  }
  return rows;
}

function widthOf(cores: readonly number[][]): number {
  return cores.reduce((width, { length }) => width + length * CELL_WIDTH, 0) + CORE_GAP * (cores.length - 1);
}

function threadsPart(where: LiveWhere, top: number): Part {
  const threads = where.threads.filter(({ cpuRunNs }) => Object.keys(cpuRunNs).length > 0).slice(0, MOST_THREADS);
  if (threads.length === 0) return { shapes: [], height: 0 };
  const nodeOf = nodesByCpu(where.machine);
  const shapes = [text(MARGIN, top + 12, `threads over ${where.seconds.toFixed(1)} s, in the colour of the node they ran on`, 'h')];
  let y = top + LINE + 4;
  for (const thread of threads) {
    const cells = overTime(thread, TIME_COLUMNS);
    const width = (WIDTH - MARGIN - TIME_LEFT) / Math.max(1, cells.length);
    shapes.push(text(MARGIN, y + 11, shortenEnd(`${thread.tid} ${thread.name}`, 26)));
    cells.forEach((cpu, column) => {
      if (cpu !== null)
        shapes.push(
          rect(TIME_LEFT + column * width, y, width, LINE - 3, `fill="${nodeColour(nodeOf.get(cpu) ?? NODE_COLOURS.length - 1)}"`),
        );
    });
    y += LINE;
  }
  return { shapes, height: y - top + PAD };
}

function nodeColour(node: number): string {
  return NODE_COLOURS[node % NODE_COLOURS.length] ?? NODE_COLOURS[0];
}

/** As much of a cache's name as a group has room for. */
function clipLabel(label: string, width: number): string {
  const characters = Math.floor((width - 2 * PAD + 4) / 6);
  return label.length <= characters ? label : label.slice(0, Math.max(0, characters));
}

/** Words in lines of at most so many characters. */
function lines(words: string, width: number): string[] {
  const found = [''];
  for (const word of words.split(' ')) {
    const last = found.at(-1) ?? '';
    if (last === '') found[found.length - 1] = word;
    else if (last.length + 1 + word.length <= width) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
  }
  return found;
}

function text(x: number, y: number, content: string, kind = ''): string {
  return `<text x="${px(x)}" y="${px(y)}"${kind === '' ? '' : ` class="${kind}"`}>${escapeXml(content)}</text>`;
}

function rect(x: number, y: number, width: number, height: number, attributes: string): string {
  return `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" ${attributes}/>`;
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}
