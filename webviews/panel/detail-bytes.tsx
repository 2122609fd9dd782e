// The bytes of a line to scale: what lies on them, and above it how often threads read and wrote there. For screen readers the same as a table.
import { Fragment } from 'preact';
import { t } from '../../extension/protocol/l10n';
import { PIECE_WORDS, type LineDetail, type LinePiece } from '../../extension/protocol/panel-detail';
import { offsetBars, threadGroups, type Bar } from './detail-model';
import { count, plural } from './format';

export function LineBytes({ detail }: { detail: LineDetail }) {
  const { line, size, pieces, hidden } = detail;
  const { groups, of } = threadGroups(line);
  const bars = offsetBars(detail, of);
  const most = Math.max(1, ...bars.map(({ samples }) => samples));
  const across = (start: number, end: number): Record<string, string> => ({
    left: `${(100 * start) / size}%`,
    width: `${(100 * (end - start)) / size}%`,
  });
  const tracks = Math.max(1, ...pieces.map((piece) => piece.tracks));
  return (
    <figure class="bytes">
      <div class="picture" aria-hidden="true">
        <div class="bars">
          {bars.map((bar) => (
            <div
              key={bar.offset}
              class="stack"
              title={barTitle(bar, groups)}
              style={{ ...across(bar.offset, bar.offset + bar.width), height: `${(100 * bar.samples) / most}%` }}
            >
              {bar.parts.flatMap(({ group, reads, writes }) => [
                writes > 0 && <span key={`w${group}`} class={`writes group-${group}`} style={{ flexGrow: writes }} />,
                reads > 0 && <span key={`r${group}`} class={`reads group-${group}`} style={{ flexGrow: reads }} />,
              ])}
            </div>
          ))}
        </div>
        <div class="members" style={{ height: `${tracks > 1 ? 18 * tracks : 28}px`, '--name-lines': tracks > 1 ? 1 : 2 }}>
          {pieces.map((piece) => (
            <div
              key={`${piece.start} ${piece.end} ${piece.track} ${piece.name}`}
              class={`piece ${piece.kind}${piece.cutLeft ? ' cut-left' : ''}${piece.cutRight ? ' cut-right' : ''}`}
              title={pieceTitle(piece)}
              style={{
                ...across(piece.start, piece.end),
                top: `${(100 * piece.track) / piece.tracks}%`,
                height: `${100 / piece.tracks}%`,
              }}
            >
              <span>{breakable(piece.name)}</span>
            </div>
          ))}
        </div>
        <div class="ruler">
          {Array.from({ length: 8 }, (_, index) => (index * size) / 8).map((byte) => (
            <span key={byte} style={{ left: `${(100 * byte) / size}%` }}>
              {byte}
            </span>
          ))}
        </div>
      </div>
      <figcaption class="legend">
        {groups.map(({ name }, index) => (
          <span key={name}>
            <span class={`swatch group-${index}`} aria-hidden="true" />
            {name}
          </span>
        ))}
        <span class="quiet">{t('full colour: writes, striped: reads')}</span>
        <span class="quiet">{t('highest bar: {0}', plural(most, 'sample'))}</span>
        {hidden > 0 && <span class="quiet">{t('{0} on the same bytes', plural(hidden, 'more member'))}</span>}
      </figcaption>
      <table class="for-readers">
        <caption>{t('Samples by byte of the cache line')}</caption>
        <thead>
          <tr>
            {[t('Byte'), t('Data'), t('Threads'), t('Reads'), t('Writes')].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.flatMap(({ offset, names, parts }) =>
            parts.map(({ group, reads, writes }) => (
              <tr key={`${offset} ${group}`}>
                <th scope="row">{offset}</th>
                <td>{names.join(', ')}</td>
                <td>{groups[group]?.name}</td>
                <td>{count(reads)}</td>
                <td>{count(writes)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </figure>
  );
}

/** It may go on in a new line behind "_", ".", ":" and "]". */
function breakable(name: string) {
  return name.split(/(?<=[_.:\]])(?=[^_.:\]])/).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

function barTitle({ offset, width, names, parts }: Bar, groups: readonly { name: string }[]): string {
  const who = parts.map(({ group, reads, writes }) => `${groups[group]?.name ?? ''}: ${plural(reads, 'read')}, ${plural(writes, 'write')}`);
  return [`${bytesText(offset, offset + width)}: ${names.join(', ')}`, ...who].join('\n');
}

function pieceTitle({ kind, start, end, name, of, cutLeft, cutRight }: LinePiece): string {
  const what = kind === 'member' ? `${name === of ? '' : `${of}: `}${name}` : t('{0} of {1}', PIECE_WORDS[kind], of);
  const beyond = [cutLeft ? t('starts on an earlier line') : '', cutRight ? t('continues on the next line') : ''].filter(
    (text) => text !== '',
  );
  return [`${what}, ${bytesText(start, end)}`, ...beyond].join('\n');
}

/** "bytes 8 to 15" */
function bytesText(start: number, end: number): string {
  const [first, last] = [Math.floor(start), Math.ceil(end) - 1];
  return last > first ? t('bytes {0} to {1}', first, last) : t('byte {0}', first);
}
