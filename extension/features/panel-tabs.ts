// What the tabs of the panel's page show beside the lines: asked for when a tab is shown, and kept as long as its profile is.
import { EngineError } from '../protocol/engine';
import { rowId } from '../protocol/panel-rows';
import { requestText, TAB_VIEWS, type TabAnswer, type TabContent, type TabRequest } from '../protocol/panel-tabs';
import { withSources } from '../session/code/code-tab';
import { SharedCall } from '../session/profile/shared-call';
import type { ShownProfile } from '../session/profile/shown-profile';
import { tabContent } from '../session/table/tab-content';
import { printable } from '../session/text/terminal-text';
import { onceMore } from './once-more';

export class PanelTabs {
  private readonly contents = new Map<string, SharedCall<TabContent>>();
  private waiting = new AbortController();

  /**
   * @param folder that source paths are written relative to
   * @param linesOf a source file of the profile as it was compiled; undefined: not here
   */
  constructor(
    private readonly folder: () => string,
    private readonly linesOf: (profile: ShownProfile, file: string) => Promise<readonly string[] | undefined>,
  ) {}

  /** Gives up what is asked for; another profile is shown, or the page is hidden. */
  abort(): void {
    this.waiting.abort();
    this.waiting = new AbortController();
  }

  /** Forgets the profile. */
  clear(): void {
    this.abort();
    this.contents.clear();
  }

  /** Undefined where it was given up. */
  async answer(profile: ShownProfile, request: TabRequest): Promise<TabAnswer | undefined> {
    const { signal } = this.waiting;
    const key = requestText(request);
    let call = this.contents.get(key);
    if (!call) {
      call = new SharedCall((cancel) =>
        onceMore(async () => {
          await profile.complete();
          return tabContent(profile, request, this.folder(), cancel);
        }, cancel),
      );
      // Code there can be of as many accesses as a person looks at, and the recording is not read for it.
      if (request.view !== 'code') this.contents.set(key, call);
    }
    try {
      const content = await call.get(signal);
      const shown = content.kind === 'code' ? await withSources(profile, content, (file) => this.linesOf(profile, file)) : content;
      return signal.aborted ? undefined : { ...request, content: shown, problem: '' };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return signal.aborted ? undefined : { ...request, content: null, problem: printable(`${error.message} ${error.nextStep}`.trim()) };
    }
  }
}

/** What the page asked for; undefined: nothing that there is. */
export function tabRequest({ view, filter, subject }: Record<string, unknown>): TabRequest | undefined {
  const known = TAB_VIEWS.find((one) => one === view);
  if (known === undefined || typeof filter !== 'string') return undefined;
  if (subject === undefined || known !== 'code') return { view: known, filter };
  const { line, access } = Object(subject) as Record<string, unknown>;
  const row = rowId(0, line, access);
  if (!row) return undefined;
  return { view: known, filter, subject: row.access === undefined ? { line: row.line } : { line: row.line, access: row.access } };
}
