// The cells of the table's rows. All text is set as text: names come out of binaries.
import { CONFIRMED_MARK, confirmationText, isConfirmed } from '../../extension/protocol/confirmation';
import { heatStep } from '../../extension/protocol/heat-scale';
import { t } from '../../extension/protocol/l10n';
import { amountOf, hasDataSources, shareOf } from '../../extension/protocol/measure';
import { ownPlace } from '../../extension/protocol/own-place';
import type { PanelHeat, UnfoldedLine } from '../../extension/protocol/panel';
import type { CacheLine, Evidence } from '../../extension/protocol/report';
import { mappingText } from '../../extension/protocol/stack-owner';
import { FLAG_MEANING, FLAG_WORDS, VERDICT_MEANING, VERDICT_WORDS, percent } from '../../extension/protocol/words';
import { valueText, type Value } from './columns';
import { count, fileName, plural } from './format';
import { LINE, type HeadColumn, type TableLayout } from './layout';
import type { AccessRow, LineRow } from './model';

interface CellsProps {
  layout: TableLayout;
  heat: PanelHeat;
}

export function LineCells({ row, onToggle, layout, heat }: CellsProps & { row: LineRow; onToggle: () => void }) {
  const { line } = row;
  return (
    <>
      <div class="column object mono" role="gridcell" title={line.objects}>
        <button
          type="button"
          class="twisty"
          tabIndex={-1}
          aria-label={row.expanded ? t('Hide accesses') : t('Show accesses')}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
          onDblClick={(event) => event.stopPropagation()}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={row.expanded ? 'M3 5.5 8 10.5 13 5.5' : 'M5.5 3 10.5 8 5.5 13'} />
          </svg>
        </button>
        {line.objects}
      </div>
      <div class="column verdict" role="gridcell">
        <span
          class={`chip ${line.verdict.replace(' ', '-')}`}
          title={[VERDICT_MEANING[line.verdict], confirmationText(line)].filter((text) => text !== '').join('\n')}
        >
          {VERDICT_WORDS[line.verdict]}
        </span>
        {isConfirmed(line) && <span class="tag">{`${CONFIRMED_MARK} ${t('confirmed')}`}</span>}
        {line.flags.map((flag) => (
          <span key={flag} class="tag" title={FLAG_MEANING[flag]}>
            {FLAG_WORDS[flag]}
          </span>
        ))}
      </div>
      {layout.columns.slice(2).map((head) => {
        if (head.column) return <ValueCell key={head.key} head={head} value={head.column.line(line)} />;
        if (head === LINE) return <AddressCell key={head.key} title={t('{0} of {1}', line.address, line.space)} text={line.address} />;
        if (head.key === 'share') return <ShareCell key={head.key} share={shareOf(amountOf(line, heat.measure), heat.whole)} />;
        const numbers: Record<string, string> = {
          threads: count(line.threads),
          writers: `${line.writers} / ${line.readers}`,
          samples: count(line.records),
        };
        return <NumberCell key={head.key} name={head.key} text={numbers[head.key] ?? ''} />;
      })}
    </>
  );
}

interface DetailProps {
  line: UnfoldedLine;
  columns: number;
  evidence: readonly Evidence[];
  /** The pane below the table has the line, and says what its verdict means and who waits. */
  isInPane: boolean;
}

export function DetailCell({ line, columns, evidence, isInPane }: DetailProps) {
  const measured = hasDataSources({ evidence })
    ? sources(line, evidence)
    : [t('{0} of all samples of the program', percent(line.programShare))];
  const factsWith = (mapping: string): string =>
    [...line.flags.map((flag) => FLAG_WORDS[flag]), line.space, mapping, ...measured].filter((text) => text !== '').join(' · ');
  const threads = line.threads
    .map(({ tid, comm, loads, stores }) => `${comm} ${tid}: ${plural(loads, 'read')}, ${plural(stores, 'write')}`)
    .join(' · ');
  return (
    <div
      class="column detail-cell"
      role="gridcell"
      aria-colspan={columns}
      title={[VERDICT_MEANING[line.verdict], line.waiting ?? '', confirmationText(line), factsWith(mappingText(line)), threads]
        .filter((text) => text !== '')
        .join('\n')}
    >
      {!isInPane && <div>{[VERDICT_MEANING[line.verdict], confirmationText(line)].filter((text) => text !== '').join(' — ')}</div>}
      {!isInPane && line.waiting !== undefined && <div>{line.waiting}</div>}
      <div class="quiet">{factsWith(fileName(mappingText(line)))}</div>
      <div class="quiet">{threads}</div>
    </div>
  );
}

/** What loads and stores of a line with data sources came to, in words. */
function sources({ hitm, peer, loads, stores, accesses }: CacheLine, evidence: readonly Evidence[]): string[] {
  // Zeros of a kind that this evidence does not count stand there too, and say nothing.
  const snoops = hitm && evidence.includes('hitm') ? t('{0} ({1} remote)', plural(hitm.total, 'HITM'), count(hitm.remote)) : '';
  const peers =
    peer && evidence.includes('peer') ? t('{0} ({1} remote)', plural(peer.local + peer.remote, 'peer hit'), count(peer.remote)) : '';
  const listed = t('{0} in the code', plural(accesses.length, 'place'));
  return [snoops, peers, plural(loads, 'load'), plural(stores.total, 'store'), listed].filter((text) => text !== '');
}

export function AccessCells({ row: { access, line, index }, layout, heat, onOpen }: CellsProps & { row: AccessRow; onOpen: () => void }) {
  const bytes = `+${access.offset}${access.width > 0 ? ` ${access.width} B` : ''}`;
  const place = ownPlace(access);
  const where = place && place.line > 0 ? `:${place.line}` : '';
  const name = line.names[index] ?? '';
  return (
    <>
      <div class="column object mono" role="gridcell" title={`${name}\n${bytes}`}>
        {name}
      </div>
      <div class="column verdict" role="gridcell" title={`${access.symbol || access.codeAddress}${place ? ` ${place.file}${where}` : ''}`}>
        {place && (
          <span class="place" onClick={onOpen}>
            {fileName(place.file) + where}
          </span>
        )}{' '}
        <span class="mono quiet">{access.symbol || access.codeAddress}</span>
      </div>
      {layout.columns.slice(2).map((head) => {
        if (head.column) return <ValueCell key={head.key} head={head} value={head.column.access(access)} />;
        if (head === LINE) return <AddressCell key={head.key} title={bytes} text={bytes} />;
        if (head.key === 'share') return <ShareCell key={head.key} share={shareOf(amountOf(access, heat.measure), heat.whole)} />;
        const numbers: Record<string, string> = {
          threads: count(access.threads.length),
          writers: accessCounts(access),
          samples: count(access.records),
        };
        return <NumberCell key={head.key} name={head.key} text={numbers[head.key] ?? ''} />;
      })}
    </>
  );
}

function AddressCell({ text, title }: { text: string; title: string }) {
  return (
    <div class="column address mono" role="gridcell" title={title}>
      {text}
    </div>
  );
}

function NumberCell({ name, text }: { name: string; text: string }) {
  return (
    <div class={`column ${name} number`} role="gridcell">
      {text}
    </div>
  );
}

/** A zero is measured and quiet; what is not known is a dash that says so. */
function ValueCell({ head, value }: { head: HeadColumn; value: Value }) {
  const quiet = value === 0 || value === null;
  return (
    <div class={`column number value-cell${head.first ? ' first' : ''}${quiet ? ' quiet' : ''}`} role="gridcell">
      {value === null ? (
        <span title={t('unknown')} aria-label={t('unknown')}>
          –
        </span>
      ) : (
        valueText(value)
      )}
    </div>
  );
}

/** "30 atomic", "2 reads, 5 writes": in the words of the report. */
function accessCounts({ locked, loads, stores }: AccessRow['access']): string {
  if (locked) return t('{0} atomic', count(loads + stores.total));
  const written = stores.rmw !== null && stores.rmw === stores.total ? t('{0} rmw', count(stores.total)) : plural(stores.total, 'write');
  return [loads > 0 ? plural(loads, 'read') : '', stores.total > 0 ? written : ''].filter((text) => text !== '').join(', ');
}

/** The bar's colours are the gutter's. */
function ShareCell({ share }: { share: number }) {
  return (
    <div class="column share" role="gridcell">
      <span class="bar" aria-hidden="true">
        <span class={`fill heat-${heatStep(share)}`} style={{ width: `${share * 100}%` }} />
      </span>
      <span class="value">{percent(share)}</span>
    </div>
  );
}
