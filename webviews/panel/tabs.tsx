// The tabs of the panel: its lines, and beside them what the host adds up when a tab is shown.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { ToPanel } from '../../extension/protocol/panel';
import {
  GROUP_KEYS,
  requestText,
  type GroupKey,
  type TabAnswer,
  type TabRequest,
  type TabSubject,
} from '../../extension/protocol/panel-tabs';
import { KEY_WORDS } from '../../extension/protocol/table';
import { loadState, onMessage, saveState, send } from './host';
import type { Sort } from './model';
import { Code } from './tab-code';
import { capital, TabTableView } from './tab-table';
import { Threads } from './tab-threads';
import { requestOf, SHARE_FIRST, TABS, type TabName } from './tab-views';
import { Timeline } from './timeline';
import './tabs.css';

type ReportMessage = Extract<ToPanel, { type: 'report' }>;

interface TabsProps {
  report: ReportMessage;
  /** The lines: they say which one is selected, and may show its code. */
  children: (onSelect: (subject: TabSubject) => void, onCode: () => void) => ComponentChildren;
}

export function Tabs({ report, children }: TabsProps) {
  const [saved] = useState(loadState);
  const [tab, setTab] = useState<TabName>(saved.tab);
  const [groupBy, setGroupBy] = useState<GroupKey>(saved.groupBy);
  const [sorts, setSorts] = useState<Record<string, Sort>>(saved.tabSorts);
  useEffect(() => saveState({ tab, groupBy, tabSorts: sorts }), [tab, groupBy, sorts]);
  const { path } = report.summary;
  const [selected, setSelected] = useState<{ path: string; subject: TabSubject }>();
  const select = (subject: TabSubject): void => setSelected({ path, subject });
  const request = requestOf(tab, groupBy, report.filter, selected?.path === path ? selected.subject : undefined);
  const answer = useAnswer(report, request);
  return (
    <>
      <TabList shown={tab} onShow={setTab} />
      <div id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {request === undefined ? (
          children(select, () => setTab('source'))
        ) : (
          <>
            {tab === 'data' && <GroupBy value={groupBy} onChange={setGroupBy} />}
            <Answered
              answer={answer}
              report={report}
              onSubject={select}
              sorting={(table) => ({
                sort: sorts[table] ?? SHARE_FIRST,
                onSort: (sort) => setSorts({ ...sorts, [table]: sort }),
              })}
            />
          </>
        )}
      </div>
    </>
  );
}

/** One tab stop; arrow keys show the tab beside. */
function TabList({ shown, onShow }: { shown: TabName; onShow: (tab: TabName) => void }) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const now = TABS.findIndex(({ name }) => name === shown);
    const targets: Record<string, number> = {
      ArrowRight: (now + 1) % TABS.length,
      ArrowLeft: (now + TABS.length - 1) % TABS.length,
      Home: 0,
      End: TABS.length - 1,
    };
    const target = TABS[targets[event.key] ?? -1];
    if (!target || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onShow(target.name);
    list.current?.querySelector<HTMLElement>(`#tab-${target.name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={t('Views')} ref={list} onKeyDown={onKeyDown}>
      {TABS.map(({ name, title, meaning }) => (
        <button
          key={name}
          id={`tab-${name}`}
          type="button"
          role="tab"
          title={meaning}
          aria-selected={name === shown}
          aria-controls="tab-panel"
          tabIndex={name === shown ? 0 : -1}
          onClick={() => onShow(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function GroupBy({ value, onChange }: { value: GroupKey; onChange: (key: GroupKey) => void }) {
  return (
    <div class="toolbar" role="toolbar" aria-label={t('Data')}>
      <label>
        {t('Group by')}{' '}
        <select class="group-by" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as GroupKey)}>
          {GROUP_KEYS.map((key) => (
            <option key={key} value={key}>
              {capital(KEY_WORDS[key])}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

interface AnsweredProps {
  answer: TabAnswer | undefined;
  report: ReportMessage;
  onSubject: (subject: TabSubject) => void;
  /** Of a table by its name. */
  sorting: (table: string) => { sort: Sort; onSort: (sort: Sort) => void };
}

function Answered({ answer, report, onSubject, sorting }: AnsweredProps) {
  if (answer === undefined) {
    return (
      <p class="tab-note quiet" aria-busy="true">
        {t('Adding up…')}
      </p>
    );
  }
  const { content, problem, view } = answer;
  /** What the header does not say yet. */
  const untold = <Content extends { warnings: string[] }>(shown: Content): Content => ({
    ...shown,
    warnings: shown.warnings.filter((warning) => !report.summary.warnings.includes(warning)),
  });
  switch (content?.kind) {
    case undefined:
      return (
        <p class="tab-note" role="alert">
          {capital(problem)}
        </p>
      );
    case 'table':
      return <TabTableView key={view} table={untold(content)} {...sorting(view)} />;
    case 'threads':
      return <Threads threads={untold(content)} sortThreads={sorting('threads')} sortCpus={sorting('cpus')} />;
    case 'code':
      return <Code code={content} onSubject={onSubject} />;
    case 'timeline':
      return <Timeline timeline={untold(content)} filter={report.filter} version={report.version} />;
  }
}

/** Of the same recording: what was answered, by view and filter. */
interface Answers {
  of: string;
  known: readonly TabAnswer[];
}

/** What the host answers the request; undefined: not yet, or there is none. */
function useAnswer({ version, filter, summary: { path, c2c } }: ReportMessage, request: TabRequest | undefined): TabAnswer | undefined {
  const of = `${c2c?.display ?? ''} ${path}`;
  const [answers, setAnswers] = useState<Answers>({ of, known: [] });
  useEffect(
    () =>
      onMessage((message) => {
        if (message.type !== 'tab') return;
        const isOther = (one: TabAnswer): boolean =>
          message.view === 'code' ? one.view !== 'code' : requestText(one) !== requestText(message);
        const isKept = (one: TabAnswer): boolean => isOther(one) && (one.filter === filter || one.view === 'timeline');
        setAnswers((before) => ({ of, known: [...(before.of === of ? before.known.filter(isKept) : []), message] }));
      }),
    [of, filter],
  );
  const known = answers.of === of ? answers.known : [];
  const text = request && requestText(request);
  const answer = known.find((one) => requestText(one) === text);
  const isWanted = request !== undefined && (answer === undefined || answer.content === null);
  useEffect(() => {
    if (isWanted) send({ type: 'tab', version, ...request });
  }, [version, text]);
  return answer;
}
