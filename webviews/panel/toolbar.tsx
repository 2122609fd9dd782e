// Above the table of data sources: what bars count, which HITMs the lines are sorted by, and which columns there are.
import { t } from '../../extension/protocol/l10n';
import type { HeatMetric } from '../../extension/protocol/measure';
import type { PanelHeat } from '../../extension/protocol/panel';
import type { C2cSettings, Display, Evidence } from '../../extension/protocol/report';
import { DISPLAY_NAME, displaysOf } from './displays';
import type { GroupState } from './fit';
import { send } from './host';
import type { TableLayout } from './layout';

interface ToolbarProps {
  heat: PanelHeat;
  evidence: Evidence[];
  c2c: C2cSettings | undefined;
  choices: TableLayout['choices'];
  /** A person has chosen columns. */
  changed: boolean;
  onGroup: (key: string, state: GroupState) => void;
  onReset: () => void;
}

export function Toolbar({ heat, evidence, c2c, choices, changed, onGroup, onReset }: ToolbarProps) {
  const displays = displaysOf(evidence);
  return (
    <div class="toolbar" role="toolbar" aria-label={t('Table')}>
      <label>
        {t('Heat')}{' '}
        <select
          class="metric"
          value={heat.metric}
          title={t('What the bars, gutter and hovers count')}
          onChange={({ currentTarget }) => send({ type: 'metric', metric: currentTarget.value as HeatMetric })}
        >
          {heat.choices.map(({ metric, name, missing }) => (
            <option key={metric} value={metric} disabled={missing !== ''} title={missing}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {c2c && displays.length > 1 && (
        <label>
          {t('Lines by')}{' '}
          <select
            class="display"
            value={c2c.display}
            title={t('How the lines of the recording are chosen and sorted')}
            onChange={({ currentTarget }) => send({ type: 'display', display: currentTarget.value as Display })}
          >
            {displays.map((display) => (
              <option key={display} value={display}>
                {DISPLAY_NAME[display]}
              </option>
            ))}
          </select>
        </label>
      )}
      <details class="choices" onKeyDown={closeOnEscape} onFocusOut={closeBehind}>
        <summary>{t('Columns')}</summary>
        <fieldset>
          <legend>{t('Columns')}</legend>
          {choices.map(({ group, state }) => (
            <label key={group.key} title={group.title}>
              <input
                type="checkbox"
                checked={state !== 'hidden'}
                onChange={({ currentTarget }) => onGroup(group.key, currentTarget.checked ? 'open' : 'hidden')}
              />
              {group.name}
            </label>
          ))}
          <button type="button" class="reset" disabled={!changed} onClick={onReset}>
            {t('Fit to the Width')}
          </button>
        </fieldset>
      </details>
    </div>
  );
}

/** The focus goes back to what opened it. */
function closeOnEscape(event: KeyboardEvent & { currentTarget: HTMLDetailsElement }): void {
  const { currentTarget: popup, key } = event;
  if (key !== 'Escape' || !popup.open) return;
  event.preventDefault();
  popup.open = false;
  popup.querySelector('summary')?.focus();
}

/** Where the focus goes elsewhere. */
function closeBehind({ currentTarget: popup, relatedTarget }: FocusEvent & { currentTarget: HTMLDetailsElement }): void {
  if (relatedTarget instanceof Node && !popup.contains(relatedTarget)) popup.open = false;
}
