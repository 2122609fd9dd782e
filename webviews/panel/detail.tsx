// Below the table: the selected line in full. Escape closes it.
import { useEffect, useState } from 'preact/hooks';
import { t } from '../../extension/protocol/l10n';
import type { Measure } from '../../extension/protocol/measure';
import type { LineDetail } from '../../extension/protocol/panel-detail';
import { percent } from '../../extension/protocol/words';
import { LineBytes } from './detail-bytes';
import { AccessTable, WaitTable } from './detail-tables';
import { onMessage, send } from './host';
import './detail.css';

/** That a selection stands before its line is asked for: a double click is over when the table gets less high, and keys run through rows. */
const SETTLED_MS = { closed: 300, open: 60 };

/**
 * The line in full, once it came; until then the one before.
 * @param id `PanelLine.id`; empty: none
 */
export function useDetail(version: number, id: string): LineDetail | undefined {
  const [detail, setDetail] = useState<LineDetail | undefined>();
  const isOpen = detail !== undefined && id !== '';
  useEffect(() => {
    if (id === '') {
      setDetail(undefined);
      return undefined;
    }
    const timer = setTimeout(() => send({ type: 'detail', version, id }), isOpen ? SETTLED_MS.open : SETTLED_MS.closed);
    const end = onMessage((message) => {
      if (message.type === 'detail' && message.version === version && message.id === id) setDetail(message.detail ?? undefined);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
    // Whether it is open counts when the selection changes, and starts nothing itself.
  }, [version, id]);
  return id === '' ? undefined : detail;
}

interface PaneProps {
  detail: LineDetail;
  version: number;
  measure: Measure;
  onCode: () => void;
  onClose: () => void;
}

export function DetailPane({ detail, version, measure, onCode, onClose }: PaneProps) {
  const { id, line, verdict, reasons, hasSource, hasCard } = detail;
  const act = (action: 'openSource' | 'showCard' | 'fix'): void => send({ type: 'row', action, version, line: id });
  return (
    <section
      class="line-detail"
      aria-label={t('Cache line {0}', line.address)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onClose();
      }}
    >
      <div class="top">
        <h2>
          <span class="mono">{line.address}</span> <span class={`chip ${line.verdict.replace(' ', '-')}`}>{verdict}</span>
        </h2>
        <div class="actions">
          {hasSource && (
            <button type="button" onClick={() => act('openSource')}>
              {t('Source')}
            </button>
          )}
          <button type="button" class="secondary" onClick={onCode}>
            {t('Instructions')}
          </button>
          {hasCard && (
            <button type="button" class="secondary" onClick={() => act('showCard')}>
              {t('Card')}
            </button>
          )}
          <button type="button" class="secondary" onClick={() => act('fix')}>
            {t('Fix')}
          </button>
          <button type="button" class="close" aria-label={t('Close')} title={t('Close (Escape)')} onClick={onClose}>
            ×
          </button>
        </div>
      </div>
      <LineBytes detail={detail} />
      <ul class="reasons">
        {line.falseShare && <li>{falseShareText(line)}</li>}
        {reasons.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <WaitTable detail={detail} />
      <AccessTable detail={detail} measure={measure} />
    </section>
  );
}

/** "86.0% of the waiting is false (between 71.0% and 95.0%): more samples could change the verdict." */
function falseShareText({ falseShare, verdictSure }: LineDetail['line']): string {
  if (!falseShare) return '';
  const { value, low, high } = falseShare;
  const range = t('between {0} and {1}', percent(low), percent(high));
  const how =
    value === null
      ? t('No cause of the waiting was seen: {0} of it is false', range)
      : t('{0} of the waiting is false ({1})', percent(value), range);
  return `${how}${verdictSure ? '.' : t('; more samples could change the verdict.')}`;
}
