// The panel's page: the table of contended cache lines of the current profile. It asks for the report whenever it is shown.
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ToPanel } from '../../extension/protocol/panel';
import { plural } from './format';
import { Header } from './header';
import { onMessage, send } from './host';
import { LineTable } from './table';
import './panel.css';

function App() {
  const [message, setMessage] = useState<ToPanel | undefined>(undefined);
  useEffect(() => {
    onMessage(setMessage);
    send({ type: 'ready' });
  }, []);

  if (message === undefined) return null;
  if (message.type === 'empty') {
    return (
      <main class="empty">
        <h1>No profile</h1>
        <p>
          Run <strong>Cacheline: Profile for False Sharing</strong> from the command palette, or <strong>Cacheline: Open Recording</strong>{' '}
          for one you have.
        </p>
      </main>
    );
  }
  const { summary, lines, objects } = message;
  return (
    <main>
      <Header summary={summary} objects={objects} />
      {lines.length > 0 ? <LineTable lines={lines} /> : <NothingFound summary={summary} />}
    </main>
  );
}

function NothingFound({ summary }: { summary: Extract<ToPanel, { type: 'report' }>['summary'] }) {
  const { total, attributed } = summary.samples;
  return (
    <section class="empty">
      <h2>{total === 0 ? 'No samples' : 'No contended cache lines'}</h2>
      <p>
        {total === 0
          ? 'The program ended before it used enough CPU time to be sampled. Give it more work, or a higher cacheline.frequency.'
          : attributed === 0
            ? 'None of the samples could be attributed to a memory access, so nothing can be said about sharing.'
            : `No two threads were seen taking turns on a cache line that one of them writes. ${plural(summary.linesLeftOut, 'line')} that one thread uses at a time ${summary.linesLeftOut === 1 ? 'is' : 'are'} not listed.`}
      </p>
    </section>
  );
}

window.addEventListener('error', ({ message }) => send({ type: 'error', message }));
window.addEventListener('unhandledrejection', ({ reason }) => send({ type: 'error', message: String(reason) }));

const root = document.getElementById('root');
if (!root) throw new Error('The panel’s page has no root element.');
render(<App />, root);
