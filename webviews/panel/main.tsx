// The panel's page: the table of contended cache lines of a profile. It asks for the report whenever it is shown.
import '../page/l10n';
import '../page/tips';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import { hasDataSources } from '../../extension/protocol/measure';
import type { PanelSummary, ToPanel } from '../../extension/protocol/panel';
import { isMostlyBlind } from '../../extension/protocol/blindness';
import { NOTHING_ATTRIBUTED, whyNoSamples } from '../../extension/protocol/words';
import type { FoundAdvice } from './answer';
import { acceptDrops } from './drop';
import { plural } from './format';
import { FilterBox } from './filter-box';
import { Header } from './header';
import { loadState, onMessage, saveState, send } from './host';
import { Progress } from './progress';
import { showPrintable } from './shown-text';
import { LineTable } from './table';
import { Tabs } from './tabs';
import './panel.css';
import './filter.css';

/** Of messages that parts of the page wait for: the table, the pane below it, a tab, and the box for the filter. */
const OF_PARTS = ['lines', 'unfolded', 'detail', 'tab', 'filtering', 'filterFailed'] as const;
type OfPart = Extract<ToPanel, { type: (typeof OF_PARTS)[number] }>;
type OfReport = Exclude<ToPanel, OfPart>;
type ReportMessage = Extract<ToPanel, { type: 'report' }>;

interface Shown {
  message: Exclude<OfReport, { type: 'advice' | 'heat' | 'head' }> | undefined;
  /** Of the report. */
  found: FoundAdvice | undefined;
}

function App() {
  const [{ message, found }, setShown] = useState<Shown>({ message: undefined, found: undefined });
  useEffect(() => {
    const end = onMessage((came) => {
      if (isOfReport(came)) setShown((before) => shownWith(before, came));
    });
    send({ type: 'ready', filter: loadState().filter });
    return end;
  }, []);
  const version = message?.type === 'report' ? message.version : undefined;
  const path = message?.type === 'report' ? message.summary.path : undefined;
  useEffect(() => {
    if (path !== undefined) saveState({ path });
  }, [path]);
  useEffect(() => (version === undefined ? undefined : afterPaint(() => send({ type: 'painted', version }))), [version]);

  switch (message?.type) {
    case undefined:
      return null;
    case 'empty':
      return <Empty />;
    case 'working':
      return <Working title={message.title} share={message.share} />;
    case 'failed':
      return <Failed {...message} />;
    case 'report': {
      const { summary, words, filter, heat, lines, ordered, examples, total, hottest } = message;
      return (
        <main>
          <Header summary={summary} heat={heat} hottest={hottest} words={lines.length > 0 ? words : undefined} found={found} />
          <FilterBox version={message.version} filter={filter} />
          <Tabs report={message}>
            {(onSelect, onCode) =>
              lines.length > 0 ? (
                <LineTable
                  lines={lines}
                  ordered={ordered}
                  examples={examples}
                  total={total}
                  version={message.version}
                  summary={summary}
                  heat={heat}
                  onSelect={onSelect}
                  onCode={onCode}
                />
              ) : (
                <NothingFound summary={summary} filter={filter} words={words.summary} />
              )
            }
          </Tabs>
        </main>
      );
    }
  }
}

function isOfReport(message: ToPanel): message is OfReport {
  return !OF_PARTS.some((type) => type === message.type);
}

/** Of the same recording the advice stays until a newer one comes. */
function shownWith(before: Shown, came: OfReport): Shown {
  const report = before.message?.type === 'report' ? before.message : undefined;
  if (came.type === 'heat') return report ? { ...before, message: withHeat(report, came) } : before;
  if (came.type === 'advice') return report?.version === came.version ? { ...before, found: came } : before;
  if (came.type === 'head') return report?.version === came.version ? { ...before, message: withHead(report, came) } : before;
  if (came.type !== 'report' || came.summary.path !== report?.summary.path) return { message: came, found: undefined };
  // Rows that stay where they are: a filter's first ones come before its words.
  return { message: came.headFollows && came.total > 0 ? withHead(came, report) : came, found: before.found };
}

function withHeat(report: ReportMessage, { version, heat, ordered }: Extract<OfReport, { type: 'heat' }>): ReportMessage {
  return { ...report, version, heat, ...(ordered ? { ordered } : {}) };
}

function withHead(report: ReportMessage, { words, hottest }: Pick<ReportMessage, 'words' | 'hottest'>): ReportMessage {
  return { ...report, words, hottest };
}

/** @returns what ends it */
function afterPaint(act: () => void): () => void {
  let frame = requestAnimationFrame(() => (frame = requestAnimationFrame(act)));
  return () => cancelAnimationFrame(frame);
}

function Empty() {
  return (
    <main class="empty">
      <h1>{t('No profile')}</h1>
      <p>{t('Profile a program, or open a recording. To drop a recording here, hold Shift and drag it from the Explorer.')}</p>
      <div class="actions">
        <button type="button" onClick={() => send({ type: 'profile' })}>
          {t('Profile a Program')}
        </button>
        <button type="button" class="secondary" onClick={() => send({ type: 'openRecording' })}>
          {t('Open a Recording')}
        </button>
      </div>
    </main>
  );
}

function Working({ title, share }: { title: string; share: number }) {
  return (
    <main class="notice" aria-busy="true">
      <p>{t('Analyzing {0}', title)}</p>
      <Progress share={share} label={t('Analyzing {0}', title)} />
    </main>
  );
}

function Failed({ title, message, nextStep, isFile }: Extract<ToPanel, { type: 'failed' }>) {
  return (
    <main class="notice" role="alert">
      <h1>{t('{0} cannot be shown', title)}</h1>
      <p>{message}</p>
      {nextStep !== '' && <p class="quiet">{nextStep}</p>}
      <div class="actions">
        <button type="button" onClick={() => send({ type: 'retry' })}>
          {t('Try Again')}
        </button>
        {isFile && (
          <button type="button" class="secondary" onClick={() => send({ type: 'reopen' })}>
            {t('Open as Text')}
          </button>
        )}
      </div>
    </main>
  );
}

function SpreadThin({ loads }: { loads: number }) {
  return (
    <section class="empty">
      <h2>{t('No cache line stands out')}</h2>
      <p>
        {t(
          '{0} are on lines that are not listed: none of these has 0.1% of them. cacheline report says which objects they are on; with --show-all it lists the lines.',
          plural(loads, 'contended load'),
        )}
      </p>
    </section>
  );
}

function NothingFound({ summary, filter, words }: { summary: PanelSummary; filter: string; words: string }) {
  const { total, attributed } = summary.samples;
  if (filter !== '') {
    return (
      <section class="empty">
        <h2>{t('The filter leaves nothing to show')}</h2>
        <p>{t('{0} Remove a term above to see more.', words)}</p>
      </section>
    );
  }
  if (total === 0) {
    return (
      <section class="empty">
        <h2>{t('No samples')}</h2>
        {whyNoSamples(summary).map((text) => (
          <p key={text}>{text}</p>
        ))}
      </section>
    );
  }
  const nothing = t('No contended cache lines{0}', isMostlyBlind(summary) ? t(' in what could be seen') : '');
  if (hasDataSources(summary)) {
    const { evidence, contendedLeftOut = 0 } = summary;
    if (contendedLeftOut > 0) return <SpreadThin loads={contendedLeftOut} />;
    const kind = evidence.includes('hitm') ? t('hit a line modified in another core’s cache') : t('were answered by another core’s cache');
    return (
      <section class="empty">
        <h2>{nothing}</h2>
        <p>
          {evidence.includes('hitm') || evidence.includes('peer')
            ? t(
                'None of the {0} {1}: in what was recorded, no core waited for a line of another one.',
                plural(summary.stats.loads ?? 0, 'sampled load'),
                kind,
              )
            : t('The data sources of this recording do not say which loads another core’s cache answered.')}
        </p>
      </section>
    );
  }
  return (
    <section class="empty">
      <h2>{nothing}</h2>
      <p>
        {attributed === 0
          ? NOTHING_ATTRIBUTED
          : `${t('No two threads were seen taking turns on a cache line that one of them writes.')} ${leftOutText(summary.linesLeftOut)} ${t('Contention shows under load: record a run that uses all its threads.')}`}
      </p>
    </section>
  );
}

function leftOutText(lines: number): string {
  return lines === 1
    ? t('1 line that one thread uses at a time is not listed.')
    : t('{0} that one thread uses at a time are not listed.', plural(lines, 'line'));
}

window.addEventListener('error', ({ message }) => send({ type: 'error', message }));
window.addEventListener('unhandledrejection', ({ reason }) => send({ type: 'error', message: String(reason) }));

acceptDrops(document.body);
showPrintable();

const root = document.getElementById('root');
if (!root) throw new Error('The panel’s page has no root element.');
render(<App />, root);
