// The lines whose accesses are shown below them: they come from the host when they are unfolded.
import { useEffect, useState } from 'preact/hooks';
import type { UnfoldedLine } from '../../extension/protocol/panel';
import { onMessage, send } from './host';

/**
 * By id, those that came; of another report they are asked for again, and stay as they were until they come.
 * @param ids `PanelLine.id`
 */
export function useUnfolded(version: number, ids: readonly string[]): ReadonlyMap<string, UnfoldedLine> {
  const [lines, setLines] = useState<ReadonlyMap<string, UnfoldedLine>>(new Map());
  const [asked] = useState({ version: 0, ids: new Set<string>() });
  useEffect(
    () =>
      onMessage((message) => {
        if (message.type === 'unfolded' && message.version === version)
          setLines((before) => new Map([...before, [message.line.id, message.line]]));
      }),
    [version],
  );
  useEffect(() => {
    if (asked.version !== version) {
      asked.version = version;
      asked.ids.clear();
    }
    for (const id of ids) {
      if (asked.ids.has(id)) continue;
      asked.ids.add(id);
      send({ type: 'unfold', version, id });
    }
  });
  return lines;
}
