// The cells of the table's rows. All text is set as text: names come out of binaries.
import { heatStep } from '../../extension/protocol/heat-scale';
import { ownPlace } from '../../extension/protocol/own-place';
import type { CacheLine } from '../../extension/protocol/report';
import { VERDICT_MEANING } from '../../extension/protocol/words';
import { count, fileName, percent, plural } from './format';
import type { AccessRow, LineRow } from './model';

export function LineCells({ row, onToggle }: { row: LineRow; onToggle: () => void }) {
  const { line } = row;
  return (
    <>
      <div class="column address" role="gridcell">
        <button
          type="button"
          class="twisty"
          tabIndex={-1}
          aria-label={row.expanded ? 'Hide accesses' : 'Show accesses'}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d={row.expanded ? 'M3 5.5 8 10.5 13 5.5' : 'M5.5 3 10.5 8 5.5 13'} />
          </svg>
        </button>
        <span class="mono" title={`${line.address} of ${line.space}`}>
          {line.address}
        </span>
      </div>
      <div class="column object mono" role="gridcell" title={row.objects}>
        {row.objects}
      </div>
      <div class="column verdict" role="gridcell" title={VERDICT_MEANING[line.verdict]}>
        <span class={`chip ${line.verdict.replace(' ', '-')}`}>{line.verdict}</span>
        {line.flags.map((flag) => (
          <span key={flag} class="tag">
            {flag}
          </span>
        ))}
      </div>
      <div class="column threads number" role="gridcell">
        {line.threads.length}
      </div>
      <div class="column writers number" role="gridcell">
        {row.readers} / {row.writers}
      </div>
      <ShareCell share={line.contendedShare} />
      <div class="column samples number" role="gridcell">
        {count(line.records)}
      </div>
    </>
  );
}

export function DetailCell({ line, columns }: { line: CacheLine; columns: number }) {
  const facts = [line.space, line.mapping, `${percent(line.programShare)} of all samples of the program`]
    .filter((text) => text !== '')
    .join(' · ');
  const threads = line.threads
    .map(({ tid, comm, loads, stores }) => `${comm} ${tid}: ${plural(loads, 'read')}, ${plural(stores, 'write')}`)
    .join(' · ');
  return (
    <div
      class="column detail-cell"
      role="gridcell"
      aria-colspan={columns}
      title={[VERDICT_MEANING[line.verdict], facts, threads].join('\n')}
    >
      <div>{VERDICT_MEANING[line.verdict]}</div>
      <div class="quiet">{facts}</div>
      <div class="quiet">{threads}</div>
    </div>
  );
}

export function AccessCells({ row: { line, access } }: { row: AccessRow }) {
  const place = ownPlace(access);
  const where = place && place.line > 0 ? `:${place.line}` : '';
  const share = line.contended === 0 ? 0 : (line.contendedShare * access.contended) / line.contended;
  return (
    <>
      <div class="column address mono" role="gridcell">
        +{access.offset}
        <span class="quiet">{access.width > 0 ? ` ${access.width} B` : ''}</span>
      </div>
      <div class="column object mono" role="gridcell" title={`${access.data.object} +${access.data.offset}`}>
        {access.data.object} <span class="quiet">+{access.data.offset}</span>
      </div>
      <div class="column verdict" role="gridcell" title={`${access.symbol || access.codeAddress}${place ? ` ${place.file}${where}` : ''}`}>
        {place && <span class="place">{fileName(place.file) + where}</span>}{' '}
        <span class="mono quiet">{access.symbol || access.codeAddress}</span>
      </div>
      <div class="column threads number" role="gridcell">
        {access.threads.length}
      </div>
      <div class="column writers number" role="gridcell">
        {access.locked && <span class="tag">atomic</span>} {accessCounts(access)}
      </div>
      <ShareCell share={share} />
      <div class="column samples number" role="gridcell">
        {count(access.records)}
      </div>
    </>
  );
}

function accessCounts({ loads, stores }: AccessRow['access']): string {
  const written = (stores.rmw ?? 0) > 0 ? 'update' : 'write';
  return [loads > 0 ? plural(loads, 'read') : '', stores.total > 0 ? plural(stores.total, written) : '']
    .filter((text) => text !== '')
    .join(', ');
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
