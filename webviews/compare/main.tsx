// The page of "Compare Recordings": what changed from one recording to the other, the conclusion first.
import '../page/l10n';
import '../page/tips';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { BothSides, CompareView, PredictedRow, ToCompare } from '../../extension/protocol/compare';
import { t } from '../../extension/protocol/l10n';
import { TitleRow, type TableTitle } from '../page/title-row';
import { send } from './host';
import { ChangeTable } from './table';
import './compare.css';

function App() {
  const [message, setMessage] = useState<ToCompare | undefined>(undefined);
  useEffect(() => {
    window.addEventListener('message', (event: MessageEvent<ToCompare>) => setMessage(event.data));
    send({ type: 'ready' });
  }, []);
  return message && <Comparison key={message.version} version={message.version} view={message.view} />;
}

function Comparison({ version, view }: { version: number; view: CompareView }) {
  const { conclusion, details, elapsed, predicted, waiting, columns, tables, notes, legend } = view;
  return (
    <main>
      <h1>{conclusion}</h1>
      {details !== '' && <p>{details}</p>}
      <Sides {...view} />
      <div class="actions">
        <button type="button" class="secondary" onClick={() => send({ type: 'swap' })}>
          {t('Swap')}
        </button>
        <button type="button" class="secondary" onClick={() => send({ type: 'again' })}>
          {t('Compare Again')}
        </button>
        <button type="button" class="secondary" onClick={() => send({ type: 'copy' })}>
          {t('Copy as Markdown')}
        </button>
      </div>
      {notes.length > 0 && (
        <ul class="warnings" aria-label={t('Notes on this comparison')}>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {(predicted.length > 0 || elapsed !== '') && <Predicted predicted={predicted} elapsed={elapsed} />}
      {tables.map((table) => (
        <ChangeTable
          key={table.kind}
          {...table}
          waiting={waiting}
          columns={columns}
          onOpen={(row) => send({ type: 'open', version, row })}
        />
      ))}
      {tables.length > 0 && (
        <p class="quiet legend">
          {legend} {t('Numbers with an arrow: before → after.')}
        </p>
      )}
    </main>
  );
}

function Sides({ before, after }: BothSides) {
  return (
    <dl>
      <dt>{t('Before')}</dt>
      <dd>{before}</dd>
      <dt>{t('After')}</dt>
      <dd>{after}</dd>
    </dl>
  );
}

const PREDICTED: TableTitle[] = [
  { name: t('Advice on the recording before'), meaning: t('What to change, as the recording before suggests') },
  { name: t('Followed'), meaning: t('Whether the change was made, as far as the layouts of both binaries show it') },
  { name: t('The program, predicted'), meaning: t('How much faster the program gets, computed from the recording before the change') },
  {
    name: t('Waiting left, predicted'),
    meaning: t('The part of the waiting for this data that stays after the change, computed before it'),
    kind: 'number',
  },
  { name: t('Waiting left, measured'), meaning: t('The same part, as the recording after shows it'), kind: 'number' },
];

/** What advice on the recording before promised, beside what the recording after shows. */
function Predicted({ predicted, elapsed }: { predicted: PredictedRow[]; elapsed: string }) {
  return (
    <section>
      <h2>{t('Predicted and measured')}</h2>
      {elapsed !== '' && <p>{elapsed}</p>}
      {predicted.length > 0 && (
        <div class="scroll" role="region" aria-label={t('Predicted and measured')} tabIndex={0}>
          <table>
            <thead>
              <TitleRow titles={PREDICTED} />
            </thead>
            <tbody>
              {predicted.map(({ advice, followed, speedup, predictedLeft, measuredLeft }, index) => (
                <tr key={index}>
                  <th scope="row">{advice}</th>
                  <td>{followed}</td>
                  <td>{speedup}</td>
                  <td class="number">{predictedLeft}</td>
                  <td class="number">{measuredLeft}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {predicted.length > 0 && <p class="quiet legend">{t('Waiting left: the part of the waiting for this data that is still there.')}</p>}
    </section>
  );
}

window.addEventListener('error', ({ message }) => send({ type: 'error', message }));
window.addEventListener('unhandledrejection', ({ reason }) => send({ type: 'error', message: String(reason) }));

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element.');
render(<App />, root);
