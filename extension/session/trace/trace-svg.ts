// The drawing of `cacheline trace`: the most frequent paths, a lane for each CPU that the object comes to, an arrow from step to step,
// a strong one where it goes to another CPU. Light or dark, as the viewer's theme is.
import type { Trace, TracePath } from '../../protocol/trace';
import { escapeXml, PALETTES } from '../layout/layout-card-svg';
import { percent } from '../../protocol/words';
import { plural, shortenEnd } from '../text/terminal-text';
import { endText, eventsOf, membersText, subjectOf, timeText } from './trace-values';

/** Pixels. */
const MARGIN = 16;
const LINE = 18;
const TIME = 80;
const LANE = 300;
const GAP = 40;
const BOX = 40;
const STEP = 58;
/** Of one character of 12 px. */
const CHARACTER = 7.3;
/** More of them are in the JSON document. */
const MOST_PATHS = 4;
const MOST_LANES = 6;

const STYLE = `text{font:12px Consolas,Menlo,'DejaVu Sans Mono',monospace}.h{font-weight:bold}.c{text-anchor:middle}.e{text-anchor:end}`;

/** A whole SVG document; names of types, functions and members in it are escaped. */
export function traceSvg(trace: Trace): string {
  const paths = trace.paths.slice(0, MOST_PATHS);
  const lanes = Math.max(1, ...paths.map(lanesOf));
  const width = MARGIN + TIME + lanes * (LANE + GAP) + MARGIN;
  const shapes: string[] = [text(MARGIN, MARGIN + 12, headOf(trace), 't h')];
  let y = MARGIN + LINE + 8;
  for (const [index, path] of paths.entries()) {
    const part = pathPart(path, index, trace.instances, y);
    shapes.push(...part.shapes);
    y += part.height;
  }
  if (trace.paths.length > paths.length) {
    shapes.push(text(MARGIN, y + 12, `${plural(trace.paths.length - paths.length, 'more path')} in the JSON document`, 'f'));
    y += LINE;
  }
  const height = y + MARGIN;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><style>${STYLE}` +
    `${theme('light', '#ffffff')}@media(prefers-color-scheme:dark){${theme('dark', '#1f1f1f')}}</style>` +
    `<rect class="g" width="${width}" height="${height}"/>${shapes.join('')}</svg>\n`
  );
}

function theme(kind: 'light' | 'dark', ground: string): string {
  const { text: ink, faint, border, member, warning } = PALETTES[kind];
  return (
    `.g{fill:${ground}}.t{fill:${ink}}.f{fill:${faint}}.b{fill:${member};stroke:${border}}.l{stroke:${border};stroke-dasharray:2 4}` +
    `.a{stroke:${border};stroke-width:1.5;fill:none}.p{fill:${border}}.x{stroke:${warning};stroke-width:2.5;fill:none}.q{fill:${warning}}`
  );
}

function headOf(trace: Trace): string {
  return `${subjectOf(trace)}: ${plural(trace.instances, 'object')} followed${trace.truncated > 0 ? `, ${trace.truncated} truncated` : ''}`;
}

function lanesOf(path: TracePath): number {
  return Math.min(MOST_LANES, 1 + Math.max(0, ...eventsOf(path).map(({ place }) => place)));
}

function pathPart(path: TracePath, index: number, instances: number, top: number): { shapes: string[]; height: number } {
  const events = eventsOf(path);
  const lanes = lanesOf(path);
  const shapes = [text(MARGIN, top + 12, `Path ${index + 1}: ${plural(path.count, 'object')} (${percent(path.count / instances)})`, 't h')];
  const first = top + 2 * LINE + 8;
  const bottom = first + events.length * STEP;
  for (let lane = 0; lane < lanes; lane++) {
    const middle = middleOf(lane);
    shapes.push(
      text(middle, top + LINE + 16, lane === 0 ? 'the CPU where it begins' : `CPU ${lane + 1} on its way`, 'f c'),
      `<path class="l" d="M${middle} ${first - 6}V${bottom - 6}"/>`,
    );
  }
  const laneOf = (place: number): number => Math.min(place, lanes - 1);
  for (const [row, event] of events.entries()) {
    const y = first + row * STEP;
    const middle = middleOf(laneOf(event.place));
    const before = events[row - 1];
    if (before !== undefined) shapes.push(arrow(middleOf(laneOf(before.place)), y - STEP + BOX, middle, y, event.cpuChanged));
    const room = Math.floor((LANE - 16) / CHARACTER);
    shapes.push(
      text(MARGIN + TIME - 12, y + 17, timeText(event.ns), 'f e'),
      `<rect class="b" x="${middle - LANE / 2}" y="${y}" width="${LANE}" height="${BOX}" rx="4"/>`,
      text(middle, y + 16, shortenEnd(event.function, room), 't h c'),
      text(middle, y + 32, shortenEnd(`${event.verb} ${membersText(event.members)}`.trimEnd(), room), 't c'),
    );
  }
  const end = endText(path);
  if (end !== '') shapes.push(text(MARGIN + TIME, bottom + 4, end, 'f'));
  return { shapes, height: bottom - top + (end === '' ? 8 : LINE + 8) };
}

function middleOf(lane: number): number {
  return MARGIN + TIME + lane * (LANE + GAP) + LANE / 2;
}

/** From the lower edge of a box to the upper edge of the next one. */
function arrow(fromX: number, fromY: number, toX: number, toY: number, crosses: boolean): string {
  const half = (fromY + toY) / 2;
  const tip = `M${toX - 4} ${toY - 7}L${toX + 4} ${toY - 7}L${toX} ${toY}Z`;
  return (
    `<path class="${crosses ? 'x' : 'a'}" d="M${fromX} ${fromY}C${fromX} ${half} ${toX} ${half} ${toX} ${toY - 6}"/>` +
    `<path class="${crosses ? 'q' : 'p'}" d="${tip}"/>`
  );
}

function text(x: number, y: number, content: string, classes: string): string {
  return `<text class="${classes}" x="${x}" y="${y}">${escapeXml(content)}</text>`;
}
