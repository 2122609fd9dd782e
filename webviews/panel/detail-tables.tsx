// The tables of a line in full: who waits for whom, word by word, and the accesses with their call chains.
import { useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { Measure } from '../../extension/protocol/measure';
import { ownPlace } from '../../extension/protocol/own-place';
import type { AccessDetail, LineDetail } from '../../extension/protocol/panel-detail';
import type { Access } from '../../extension/protocol/report';
import { accessKind, KIND_WORDS } from '../../extension/protocol/roles';
import { percent } from '../../extension/protocol/words';
import { waitMatrix } from './detail-model';
import { TitleRow, type TableTitle } from '../page/title-row';
import { count, fileName, plural } from './format';
import { send } from './host';
import { accessesOf } from './model';

/** More are in the rows of the table above. */
const MOST_ACCESSES = 100;

export function WaitTable({ detail }: { detail: LineDetail }) {
  const waits = waitMatrix(detail);
  if (!waits) return null;
  const { words, shares } = waits;
  return (
    <div class="waits" role="region" aria-label={t('Who waits for whom')} tabIndex={0}>
      <table>
        <caption>{t('Who waits for whom: shares of the waiting for this line')}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="term" tabIndex={0} title={t('How much of the waiting is at the data of the row, for the data of the column')}>
                {t('waits at \\ for')}
              </span>
            </th>
            {words.map(({ name, offset }) => (
              <th key={offset} scope="col" class="mono" title={`+${offset} ${name}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {words.map(({ name, offset }, row) => (
            <tr key={offset}>
              <th scope="row" class="mono" title={`+${offset} ${name}`}>
                {name}
              </th>
              {words.map((cause, column) => {
                const wait = shares[row]?.[column];
                if (!wait) return <td key={cause.offset} />;
                const style = { '--waiting': `${Math.round(60 * wait.share)}%` };
                return (
                  <td
                    key={cause.offset}
                    class="number waiting"
                    style={style}
                    title={t('{0} of it is for data that the waiting access does not share', percent(wait.falseShare))}
                  >
                    {percent(wait.share)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ACCESS_TITLES: TableTitle[] = [
  { name: t('Byte'), meaning: t('Bytes from the start of the cache line'), kind: 'number' },
  {
    name: t('Kind'),
    meaning: t('What the access does; rmw: it reads and writes in one instruction; atomic: no other core can interrupt it'),
  },
  { name: t('Share'), meaning: t('Its part of the samples that count on this line'), kind: 'number' },
  { name: t('Threads'), meaning: t('Distinct threads'), kind: 'number' },
  { name: t('Data'), meaning: t('The variable, type member or heap block at that byte') },
  { name: t('Function'), meaning: t('The function whose code makes the access') },
  { name: t('Source'), meaning: t('The source line of that code') },
];

export function AccessTable({ detail: { line, accesses }, measure }: { detail: LineDetail; measure: Measure }) {
  const details = new Map(line.accesses.map((access, index) => [access, accesses[index]]));
  const all = accessesOf(line, measure);
  const sum = all.reduce((total, access) => total + weight(access, line.contended), 0);
  return (
    <div class="accesses">
      <table>
        <caption>{t('Accesses')}</caption>
        <thead>
          <TitleRow titles={ACCESS_TITLES} />
        </thead>
        <tbody>
          {all.slice(0, MOST_ACCESSES).map((access) => (
            <AccessRows
              key={`${access.offset} ${access.codeAddress} ${line.accesses.indexOf(access)}`}
              access={access}
              detail={details.get(access)}
              share={sum === 0 ? undefined : weight(access, line.contended) / sum}
            />
          ))}
        </tbody>
      </table>
      {all.length > MOST_ACCESSES && <p class="quiet">{t('{0} in the code', plural(all.length - MOST_ACCESSES, 'more place'))}</p>}
    </div>
  );
}

interface AccessProps {
  access: Access;
  detail: AccessDetail | undefined;
  share: number | undefined;
}

function AccessRows({ access, detail = { name: '', inlined: [], chains: [] }, share }: AccessProps) {
  const [open, setOpen] = useState(false);
  const { inlined, chains, name } = detail;
  const place = ownPlace(access);
  const code = access.symbol || access.codeAddress;
  const sum = chains.reduce((total, { records }) => total + records, 0);
  const folds = inlined.length > 0 || chains.length > 0;
  return (
    <>
      <tr>
        <td class="number">{access.offset}</td>
        <td>{KIND_WORDS[accessKind(access)]}</td>
        <td class="number">{share === undefined ? '' : percent(share)}</td>
        <td class="number">{count(access.threads.length)}</td>
        <td class="mono" title={name}>
          {name}
        </td>
        <td class="mono" title={code}>
          {folds ? (
            <button type="button" class="unfold" aria-expanded={open} onClick={() => setOpen(!open)}>
              <span aria-hidden="true">{open ? '▾' : '▸'}</span> {code}
            </button>
          ) : (
            code
          )}
        </td>
        <td>
          {place && place.line > 0 && (
            <button type="button" class="link" title={`${place.file}:${place.line}`} onClick={() => send({ type: 'open', ...place })}>
              {`${fileName(place.file)}:${place.line}`}
            </button>
          )}
        </td>
      </tr>
      {open && (
        <tr class="chains">
          <td colSpan={7}>
            {inlined.length > 0 && (
              <p>
                <span class="quiet">{t('inlined:')} </span>
                <span class="mono">{inlined.join(' < ')}</span>
              </p>
            )}
            {chains.map(({ records, functions }) => (
              <p key={functions.join()}>
                <span class="quiet">{t('{0} called from', percent(records / Math.max(1, sum)))} </span>
                <span class="mono">{functions.join(' < ')}</span>
              </p>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

/** What counts on a line: contended samples where there are any, all otherwise. */
function weight({ contended, records }: Access, contendedOfLine: number): number {
  return contendedOfLine > 0 ? contended : records;
}
