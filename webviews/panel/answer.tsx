// What the panel says first: what is contended and what it costs, what helps and how much, and where to look.
import { t } from '../../extension/protocol/l10n';
import type { PanelAdvice, PanelWords, TextPart, ToPanel } from '../../extension/protocol/panel';
import { count } from './format';
import { send } from './host';

export type FoundAdvice = Extract<ToPanel, { type: 'advice' }>;

/** Pixels; lower windows are low for panel.css, too. */
const ROOMY_HEIGHT = 700;

/** @param found undefined while it is looked for */
export function Answer({ words, found }: { words: PanelWords; found: FoundAdvice | undefined }) {
  return (
    <section class="answer" aria-label={t('Answer')}>
      <p class="summary">{words.summary}</p>
      {words.again === true && (
        <div class="actions">
          <button type="button" onClick={() => send({ type: 'profile' })}>
            {t('Record Again')}
          </button>
        </div>
      )}
      <Remedy words={words} found={found} />
    </section>
  );
}

export function LookFirst({ parts }: { parts: TextPart[] }) {
  return <p class="look">{parts.map(partOf)}</p>;
}

function Remedy({ words: { meaning }, found }: { words: PanelWords; found: FoundAdvice | undefined }) {
  if (found === undefined) {
    return (
      <div class="remedy looking" aria-busy="true">
        <p class="quiet">{t('Looking for what helps…')}</p>
      </div>
    );
  }
  const { advice, more, problem } = found;
  if (advice === null) {
    return (
      <>
        {meaning !== '' && <p>{meaning}</p>}
        {problem !== '' && <p class="quiet">{t('No advice: {0}', problem)}</p>}
        {more > 0 && (
          <div class="actions">
            <AllAdvice number={more} />
          </div>
        )}
      </>
    );
  }
  return (
    <>
      {advice.words === '' && meaning !== '' && <p>{meaning}</p>}
      <Advised advice={advice} more={more} />
    </>
  );
}

/** In a low window the title alone, until it is unfolded: the rows below need the room. */
function Advised({ advice: { title, words, opens, reason }, more }: { advice: PanelAdvice; more: number }) {
  return (
    <div class="remedy">
      {words === '' && reason === '' ? (
        <p class="title">{title}</p>
      ) : (
        <details open={globalThis.innerHeight >= ROOMY_HEIGHT}>
          <summary class="title">{title}</summary>
          {words !== '' && <p>{words}</p>}
          {reason !== '' && <p class="quiet">{t('No edit: {0}', reason)}</p>}
        </details>
      )}
      {(opens !== 'nothing' || more > 0) && (
        <div class="actions">
          {opens !== 'nothing' && (
            <button type="button" onClick={() => send({ type: 'advice' })}>
              {opens === 'preview' ? t('Preview Fix') : t('Show Card')}
            </button>
          )}
          {more > 0 && <AllAdvice number={more + 1} />}
        </div>
      )}
    </div>
  );
}

function AllAdvice({ number }: { number: number }) {
  return (
    <button type="button" class="secondary" onClick={() => send({ type: 'allAdvice' })}>
      {t('All Advice ({0})', count(number))}
    </button>
  );
}

function partOf(part: TextPart) {
  if (typeof part === 'string') return part;
  const { text, place } = part;
  return (
    <button type="button" class="link" title={`${place.file}:${place.line}`} onClick={() => send({ type: 'open', ...place })}>
      {text}
    </button>
  );
}
