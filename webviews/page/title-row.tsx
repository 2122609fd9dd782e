// The titles of a table that is not sorted, each with its meaning as its tooltip. One tab stop; arrow keys go from title to title.
import { useState } from 'preact/hooks';

export interface TableTitle {
  name: string;
  meaning: string;
  /** Classes of its cell. */
  kind?: string;
}

export function TitleRow({ titles }: { titles: readonly TableTitle[] }) {
  const [stop, setStop] = useState(0);
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>('.term')];
    const targets: Record<string, number> = { ArrowRight: stop + 1, ArrowLeft: stop - 1, Home: 0, End: all.length - 1 };
    const target = all[targets[event.key] ?? -1];
    if (!target || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    target.focus();
  };
  return (
    <tr onKeyDown={onKeyDown}>
      {titles.map(({ name, meaning, kind }, index) => (
        <th key={name} scope="col" class={kind}>
          <span class="term" tabIndex={index === stop ? 0 : -1} title={meaning} onFocus={() => setStop(index)}>
            {name}
          </span>
        </th>
      ))}
    </tr>
  );
}
