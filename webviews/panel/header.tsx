// Above the table: the recording, the answer and what to be wary of.
import { blindText, isMostlyBlind, UNATTRIBUTED_WORDS, type UnattributedReason } from '../../extension/protocol/blindness';
import { t } from '../../extension/protocol/l10n';
import { hasDataSources } from '../../extension/protocol/measure';
import type { PanelHeat, PanelSummary, PanelWords } from '../../extension/protocol/panel';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { ObjectSum, Report } from '../../extension/protocol/report';
import { EVIDENCE_MEANING, NO_EVIDENCE, percent } from '../../extension/protocol/words';
import { Answer, LookFirst, type FoundAdvice } from './answer';
import { commandLine, count, duration, plural } from './format';
import { send } from './host';

interface HeaderProps {
  summary: PanelSummary;
  heat: PanelHeat;
  hottest: ObjectSum[];
  /** Undefined where there are no lines: what that means is said in their place. */
  words: PanelWords | undefined;
  found: FoundAdvice | undefined;
}

export function Header({ summary, heat, hottest, words, found }: HeaderProps) {
  return (
    <header>
      <Provenance summary={summary} heat={heat} />
      {isMostlyBlind(summary) && <p class="warnings blind most">{blindText(summary)}</p>}
      {words && <Answer words={words} found={found} />}
      {summary.blind && !isMostlyBlind(summary) && <p class="blind">{blindText(summary)}</p>}
      {summary.warnings.length > 0 && (
        <ul class="warnings" aria-label={t('Warnings')}>
          {summary.warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      <div class="places">
        {words && words.lookFirst.length > 0 && <LookFirst parts={words.lookFirst} />}
        {hottest.length > 0 && (
          <p class="hottest">
            <span class="quiet">{t('Hottest data')}</span>{' '}
            {hottest.map((object) => (
              <HotObject key={`${object.space} ${object.object}`} object={object} />
            ))}
          </p>
        )}
      </div>
    </header>
  );
}

/** The recording in a line; unfolded, what was measured, by which collector, and what the numbers mean. */
function Provenance({ summary, heat }: Pick<HeaderProps, 'summary' | 'heat'>) {
  const { samples, recording } = summary;
  const reasons = (Object.entries(samples.unattributed) as [UnattributedReason, number][]).filter(([, value]) => value > 0);
  return (
    <details class="provenance">
      <summary>
        <h1 title={summary.path}>{summary.title}</h1> <span class="quiet">{provenanceText(summary)}</span>
      </summary>
      <dl class="facts">
        {recording && (
          <Fact name={recording.command.length > 0 ? t('Program') : t('Target')}>
            <span class="mono">{recording.command.length > 0 ? commandLine(recording.command) : attachedText(recording.target)}</span>
          </Fact>
        )}
        <Fact name={t('Measured')}>
          {t('{0} in {1}', plural(samples.total, 'sample'), duration(summary.seconds))},{' '}
          <strong>{t('{0} attributed', percent(ratio(samples.attributed, samples.total)))}</strong>
          {samples.lost > 0 && <strong>{t(', {0} lost', count(samples.lost))}</strong>}
          {reasons.length > 0 && (
            <span class="quiet"> ({reasons.map(([reason, value]) => `${count(value)} ${UNATTRIBUTED_WORDS[reason]}`).join(', ')})</span>
          )}
        </Fact>
        {hasDataSources(summary) && <Fact name={t('Counted')}>{sourcesText(summary)}</Fact>}
        {heat.instead !== '' && (
          <Fact name={t('Heat')}>
            {heat.choices.find(({ metric }) => metric === heat.metric)?.name} <span class="quiet"> — {heat.instead}</span>
          </Fact>
        )}
        <Fact name={t('Collector')}>
          {summary.collector}
          {summary.c2c && summary.c2c.events.length > 0 && <span class="quiet"> — {summary.c2c.events.join(', ')}</span>}
          {recording && recording.collectorReason !== '' && <span class="quiet"> — {recording.collectorReason}</span>}
        </Fact>
        {recording?.notTaken && recording.notTaken.length > 0 && (
          <Fact name={t('Not used')}>
            {recording.notTaken.map(({ collector, reason }) => (
              <div key={collector}>
                {collector} <span class="quiet"> — {reason}</span>
              </div>
            ))}
          </Fact>
        )}
        <Fact name={t('Evidence')}>
          {summary.evidence.length === 0 && <span class="quiet">{NO_EVIDENCE}</span>}
          {summary.evidence.map((evidence) => (
            <span key={evidence} class="evidence">
              <span class="tag">{evidence}</span> <span class="quiet">{EVIDENCE_MEANING[evidence]}</span>
            </span>
          ))}
        </Fact>
      </dl>
    </details>
  );
}

/** "Clock samples, 1,189 in 2.7 s, 12 lost". */
function provenanceText(summary: PanelSummary): string {
  const { samples, seconds } = summary;
  const lost = samples.lost > 0 ? t(', {0} lost', count(samples.lost)) : '';
  const kind = hasDataSources(summary) ? t('Memory samples') : t('Clock samples');
  return t('{0}, {1} in {2}{3}', kind, count(samples.total), duration(seconds), lost);
}

/** "600 loads: 401 HITMs (125 local, 276 remote); 285 stores". Counters that this evidence does not have are left out. */
function sourcesText({ stats, evidence }: Pick<Report, 'stats' | 'evidence'>): string {
  const { loads, stores, localHitm, remoteHitm, localPeer, remotePeer } = stats;
  const snoops = (names: (sum: number) => string, local: number | null | undefined, remote: number | null | undefined): string =>
    t('{0} ({1} local, {2} remote)', names((local ?? 0) + (remote ?? 0)), count(local ?? 0), count(remote ?? 0));
  const kinds = [
    evidence.includes('hitm') ? snoops((sum) => plural(sum, 'HITM'), localHitm, remoteHitm) : '',
    evidence.includes('peer') ? snoops((sum) => plural(sum, 'peer hit'), localPeer, remotePeer) : '',
  ].filter((text) => text !== '');
  return `${plural(loads ?? 0, 'load')}${kinds.length > 0 ? `: ${kinds.join(', ')}` : ''}; ${plural(stores ?? 0, 'store')}`;
}

/** "attached to process 4711". Empty where the recording does not say. */
function attachedText(target: RecordingMeta['target']): string {
  if (target === undefined || target.kind === 'command') return '';
  if (target.kind === 'system') return t('the whole machine');
  const ids = target.ids.join(', ');
  if (target.kind === 'processes') return target.ids.length === 1 ? t('attached to process {0}', ids) : t('attached to processes {0}', ids);
  return target.ids.length === 1 ? t('attached to thread {0}', ids) : t('attached to threads {0}', ids);
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A variable with its sum over all its lines: contention spread over an array counts once here. */
function HotObject({ object }: { object: ObjectSum }) {
  const text = (
    <>
      <span class="mono">{object.object}</span> {percent(object.contendedShare)}
      {object.lines > 1 && <span class="quiet"> {t('on {0}', plural(object.lines, 'line'))}</span>}
    </>
  );
  const { definition } = object;
  if (!definition) return <span class="hot-object">{text}</span>;
  return (
    <button
      type="button"
      class="hot-object"
      title={t('Defined at {0}:{1}', definition.file, definition.line)}
      onClick={() => send({ type: 'open', file: definition.file, line: definition.line })}
    >
      {text}
    </button>
  );
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
