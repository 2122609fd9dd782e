// The filter of a profile: a box that completes terms, what is wrong with a filter in words, and a chip for each term that is set.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { termsOf } from '../../extension/protocol/filter';
import { t } from '../../extension/protocol/l10n';
import { proposalsOf } from './filter-terms';
import { onMessage, saveState, send } from './host';
import { Progress } from './progress';

interface FilterProps {
  /** Of the report. */
  version: number;
  filter: string;
}

export function FilterBox({ version, filter }: FilterProps) {
  /** What a person wrote, with whether the report was asked for by it; undefined: the filter of the report. */
  const [written, setWritten] = useState<{ text: string; isAsked: boolean } | undefined>(undefined);
  const text = written?.text ?? filter;
  const setText = (wanted: string): void => setWritten({ text: wanted, isAsked: false });
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  /** Of the samples that are read for the filter. */
  const [share, setShare] = useState(0);
  const [open, setOpen] = useState(false);
  /** Of the proposals; -1: none. */
  const [chosen, setChosen] = useState(-1);
  // With the report: what a person writes behind it stays, also before it is painted.
  useLayoutEffect(() => {
    setWritten((now) => (now?.isAsked === true ? undefined : now));
    saveState({ filter });
  }, [filter]);
  useLayoutEffect(() => {
    setProblem('');
    setBusy(false);
  }, [version]);
  useEffect(
    () =>
      onMessage((message) => {
        if (message.type === 'filtering' && message.version === version) setShare(message.share);
        if (message.type !== 'filterFailed' || message.version !== version) return;
        setBusy(message.problem === '');
        setProblem(message.problem);
      }),
    [version],
  );

  useEffect(() => {
    document.getElementById(`filter-proposal-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const proposals = open ? proposalsOf(text) : [];
  const apply = (wanted: string): void => {
    setOpen(false);
    setWritten({ text: wanted, isAsked: true });
    setProblem('');
    if (wanted.trim() === filter) return;
    setBusy(true);
    setShare(0);
    send({ type: 'filter', version, filter: wanted.trim() });
  };
  const take = (proposed: string): void => {
    setText(proposed);
    setChosen(-1);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const proposal = proposals[chosen];
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => (open ? setChosen(Math.min(proposals.length - 1, chosen + 1)) : setOpen(true)),
      ArrowUp: () => setChosen(Math.max(-1, chosen - 1)),
      Enter: () => (proposal ? take(proposal.filter) : apply(text)),
      Tab: proposal && (() => take(proposal.filter)),
      Escape: () => (open ? setOpen(false) : setWritten(undefined)),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act();
  };

  return (
    <search class="filter" aria-label={t('Filter')}>
      <div class="box">
        <input
          type="text"
          role="combobox"
          spellcheck={false}
          aria-label={t('Filter')}
          aria-expanded={proposals.length > 0}
          aria-controls="filter-proposals"
          aria-activedescendant={chosen < 0 ? undefined : `filter-proposal-${chosen}`}
          aria-invalid={problem !== ''}
          aria-busy={busy}
          placeholder={t('Filter: verdict:false, type:NAME, thread:NAME, contended>100')}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setOpen(true);
            setChosen(-1);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setOpen(false)}
        />
        {busy && <span class="quiet">{t('Filtering…')}</span>}
        {busy && share > 0 && <Progress share={share} label={t('Filtering…')} />}
        {proposals.length > 0 && (
          <ul id="filter-proposals" role="listbox" aria-label={t('Terms')}>
            {proposals.map(({ filter: proposed, term, title }, index) => (
              <li
                key={term}
                id={`filter-proposal-${index}`}
                role="option"
                aria-selected={index === chosen}
                // The box keeps the focus.
                onMouseDown={(event) => {
                  event.preventDefault();
                  take(proposed);
                }}
              >
                <span class="mono">{term}</span> <span class="quiet">{title}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {filter !== '' && (
        <div class="chips">
          {termsOf(filter).map((term, index, all) => (
            <button
              key={`${index} ${term}`}
              type="button"
              class="mono"
              aria-label={t('Remove {0}', term)}
              onClick={() => apply(all.filter((_, other) => other !== index).join(' '))}
            >
              {term} <span aria-hidden="true">×</span>
            </button>
          ))}
        </div>
      )}
    </search>
  );
}
