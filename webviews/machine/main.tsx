// The page of "Check This Machine": each collector, whether it can be used here, what is in the way and what lifts it.
import '../page/l10n';
import '../page/tips';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type {
  FromMachine,
  MachineBlocker,
  MachineCollector,
  MachineView,
  SelfTestState,
  ToMachine,
} from '../../extension/protocol/machine';
import { TitleRow, type TableTitle } from '../page/title-row';
import './machine.css';

declare function acquireVsCodeApi(): { postMessage(message: FromMachine): void };

const TITLES: TableTitle[] = [
  { name: t('Collector'), meaning: t('A way to take samples, and what it measures') },
  { name: t('Usable'), meaning: t('Whether this machine and this user can record with it') },
  { name: t('What blocks it, and how to fix that'), meaning: t('What was found, and the command or setting that changes it') },
  { name: t('Self-test'), meaning: t('What a recording of the built-in contended program found') },
];

const api = acquireVsCodeApi();
const send = (message: FromMachine): void => api.postMessage(message);

function App() {
  const [message, setMessage] = useState<ToMachine | undefined>(undefined);
  useEffect(() => {
    window.addEventListener('message', (event: MessageEvent<ToMachine>) => setMessage(event.data));
    send({ type: 'ready' });
  }, []);
  return message && <Machine view={message.view} />;
}

function Machine({ view: { collectors, facts, selfTest } }: { view: MachineView }) {
  const usable = collectors.filter((collector) => collector.usable).map(({ name }) => name);
  return (
    <main>
      <h1>{t('What this machine can record')}</h1>
      <p class="quiet">
        {usable.length === 0
          ? t('No collector works here. The table below says what blocks each one.')
          : t('Usable here: {0}.', usable.join(', '))}
      </p>
      <div class="actions">
        <button type="button" disabled={selfTest.state === 'running'} onClick={() => send({ type: 'selfTest' })}>
          {selfTest.state === 'running' ? t('Testing…') : t('Run Self-Test')}
        </button>
        <button type="button" class="secondary" onClick={() => send({ type: 'check' })}>
          {t('Check Again')}
        </button>
        <button type="button" class="secondary" onClick={() => send({ type: 'text' })}>
          {t('Show as Text')}
        </button>
      </div>
      <SelfTestNotice selfTest={selfTest} />
      <table class="collectors" aria-busy={selfTest.state === 'running'}>
        <thead>
          <TitleRow titles={TITLES} />
        </thead>
        <tbody>
          {collectors.map((collector) => (
            <CollectorRow key={collector.name} collector={collector} selfTest={selfTest} />
          ))}
        </tbody>
      </table>
      <h2>{t('Machine')}</h2>
      <dl>
        {facts.map(({ name, value }) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </main>
  );
}

/** The self-test records a small program of two threads that fight over one line, half a second with each usable collector. */
function SelfTestNotice({ selfTest }: { selfTest: SelfTestState }) {
  if (selfTest.state !== 'failed') {
    return <p class="quiet">{t('The self-test records a built-in contended program for half a second with each usable collector.')}</p>;
  }
  return (
    <p role="alert" class="alert">
      {t('The self-test failed: {0} {1}', selfTest.message, selfTest.nextStep)}
    </p>
  );
}

function CollectorRow({
  collector: { name, meaning, usable, blockers, note },
  selfTest,
}: {
  collector: MachineCollector;
  selfTest: SelfTestState;
}) {
  return (
    <tr class="collector">
      <th scope="row">
        {name}
        <span class="quiet">{meaning}</span>
      </th>
      <td>
        <span class={usable ? 'yes' : 'no'}>{usable ? t('usable') : t('not usable')}</span>
      </td>
      <td>
        {blockers.length === 0 && note === '' && <span class="quiet">{t('nothing')}</span>}
        {blockers.map((blocker, index) => (
          <Blocker key={index} blocker={blocker} onCopy={() => send({ type: 'copy', collector: name, blocker: index })} />
        ))}
        {note !== '' && <p class="note quiet">{note}</p>}
      </td>
      <td>
        <TestResult name={name} usable={usable} selfTest={selfTest} />
      </td>
    </tr>
  );
}

function Blocker({ blocker: { what, value, fix, command }, onCopy }: { blocker: MachineBlocker; onCopy: () => void }) {
  return (
    <div class="blocker">
      <p>
        <strong>{what}</strong>
        {value !== '' && `: ${value}`}
      </p>
      {command === '' ? (
        fix !== '' && <p class="fix">{fix}</p>
      ) : (
        <div class="fix">
          {fix.replaceAll('`', '') !== command && <p>{fix.replaceAll('`', '')}</p>}
          <code>{command}</code>
          <button type="button" class="push secondary" aria-label={t('Copy {0}', command)} onClick={onCopy}>
            {t('Copy')}
          </button>
        </div>
      )}
    </div>
  );
}

function TestResult({ name, usable, selfTest }: { name: MachineCollector['name']; usable: boolean; selfTest: SelfTestState }) {
  if (selfTest.state === 'running') return <span class="quiet">{usable ? t('recording…') : ''}</span>;
  const result = selfTest.state === 'done' ? selfTest.results.find(({ collector }) => collector === name) : undefined;
  if (!result) return <span class="quiet">{t('not run')}</span>;
  return (
    <>
      <span class={result.passed ? 'yes' : 'no'}>{result.passed ? t('passed') : t('failed')}</span>
      <p>{result.found}</p>
    </>
  );
}

window.addEventListener('error', ({ message }) => send({ type: 'error', message }));
window.addEventListener('unhandledrejection', ({ reason }) => send({ type: 'error', message: String(reason) }));

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element.');
render(<App />, root);
