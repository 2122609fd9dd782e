// What the tabs of the panel's page show beside the lines: asked for when a tab is shown, and kept as long as its profile is.
import { EngineError } from '../protocol/engine';
import { TAB_VIEWS, type TabAnswer, type TabContent, type TabRequest } from '../protocol/panel-tabs';
import { SharedCall } from '../session/profile/shared-call';
import type { ShownProfile } from '../session/profile/shown-profile';
import { tabContent } from '../session/table/tab-content';
import { printable } from '../session/text/terminal-text';

export class PanelTabs {
  private readonly contents = new Map<string, SharedCall<TabContent>>();
  private waiting = new AbortController();

  /** @param folder that source paths are written relative to */
  constructor(private readonly folder: () => string) {}

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
  async answer(profile: ShownProfile, { view, filter }: TabRequest): Promise<TabAnswer | undefined> {
    const { signal } = this.waiting;
    const key = `${view} ${filter}`;
    let call = this.contents.get(key);
    if (!call) {
      call = new SharedCall((cancel) => tabContent(profile, { view, filter }, this.folder(), cancel));
      this.contents.set(key, call);
    }
    try {
      const content = await call.get(signal);
      return signal.aborted ? undefined : { view, filter, content, problem: '' };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return signal.aborted ? undefined : { view, filter, content: null, problem: printable(`${error.message} ${error.nextStep}`.trim()) };
    }
  }
}

/** What the page asked for; undefined: nothing that there is. */
export function tabRequest({ view, filter }: Record<string, unknown>): TabRequest | undefined {
  const known = TAB_VIEWS.find((one) => one === view);
  return known !== undefined && typeof filter === 'string' ? { view: known, filter } : undefined;
}
