// The instructions of a function with what was measured at each, below their source lines. All text is set as text.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { CodeInstructionRow, CodeSource, TabCode, TabSubject } from '../../extension/protocol/panel-tabs';
import { percent } from '../../extension/protocol/words';
import { TitleRow, type TableTitle } from '../page/title-row';
import { count } from './format';
import { send } from './host';
import { Notes, ShareCell } from './tab-table';

const COLUMNS: TableTitle[] = [
  { name: t('Share'), meaning: t('Its part of the contended samples'), kind: 'number' },
  { name: t('Samples'), meaning: t('Samples at this instruction'), kind: 'number' },
  { name: t('Instruction'), meaning: t('As it stands in the binary, below its source line') },
  { name: t('Data'), meaning: t('What the instruction accesses; in bold where it is on the cache line that is shown') },
  { name: t('Address'), meaning: t('In the binary'), kind: 'number' },
];

interface CodeProps {
  code: TabCode;
  onSubject: (subject: TabSubject) => void;
}

export function Code({ code, onSubject }: CodeProps) {
  const { title, line, accesses, access, problem, rows, notes } = code;
  const scrolled = useRef<HTMLDivElement>(null);
  // What is shown comes into view; where a person scrolled afterwards stays.
  useLayoutEffect(() => {
    const [box, row] = [scrolled.current, scrolled.current?.querySelector('tr.shown')];
    if (!box || !row) return;
    // Not scrollIntoView: it moves what is around the page, too.
    const above = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += above - (box.clientHeight - row.clientHeight) / 2;
  }, [line, access, rows.length]);
  return (
    <>
      <div class="toolbar" role="toolbar" aria-label={t('Source')}>
        <label>
          {t('Access')}{' '}
          <select class="access" value={access} onChange={({ currentTarget: { value } }) => onSubject({ line, access: Number(value) })}>
            {accesses.map((one) => (
              <option key={one.access} value={one.access}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="tab-scroll" ref={scrolled}>
        <p class="tab-note quiet totals">{title}</p>
        {problem === '' ? (
          <table class="code" aria-label={t('Instructions')}>
            <thead>
              <TitleRow titles={COLUMNS} />
            </thead>
            <tbody>
              {rows.map((row, index) =>
                row.kind === 'source' ? <SourceRow key={index} source={row} /> : <InstructionRow key={index} instruction={row} />,
              )}
            </tbody>
          </table>
        ) : (
          <p class="tab-note" role="alert">
            {problem}
          </p>
        )}
        <Notes notes={notes} warnings={[]} />
      </div>
    </>
  );
}

function SourceRow({ source: { name, place, text } }: { source: CodeSource }) {
  return (
    <tr class="source">
      <td colSpan={COLUMNS.length}>
        {place ? (
          <button
            type="button"
            class="link"
            title={t('Open {0}:{1}', place.file, place.line)}
            onClick={() => send({ type: 'open', ...place })}
          >
            {name}
          </button>
        ) : (
          <span class="quiet">{name}</span>
        )}{' '}
        <span class="mono">{text}</span>
      </td>
    </tr>
  );
}

function InstructionRow({ instruction }: { instruction: CodeInstructionRow }) {
  const { address, text, inlined, data, samples, share, ofLine, isShown } = instruction;
  return (
    <tr class={isShown ? 'shown' : ''} aria-current={isShown ? 'true' : undefined}>
      {share > 0 ? <ShareCell share={share} text={percent(share)} /> : <td />}
      <td class="number">{samples > 0 ? count(samples) : ''}</td>
      <td class="mono instruction" title={inlined === '' ? undefined : t('Inlined from {0}', inlined)}>
        {text}
      </td>
      <td class={`mono data${ofLine ? ' of-line' : ''}`} title={data}>
        {data}
      </td>
      <td class="number mono quiet">{address}</td>
    </tr>
  );
}
