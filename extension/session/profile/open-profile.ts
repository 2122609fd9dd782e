// A recording that the engine keeps open, and the questions of the editor to it.
import { recordingStamp, requireStamp } from '../../engine/recording-stamp';
import type { AdviceList } from '../../protocol/advice';
import type { CallOptions, Engine, EngineCalls, OpenParams, TableParams, ThreadsParams } from '../../protocol/engine';
import { MOST_LINES_AT_ONCE } from '../../protocol/panel';
import type { Answers, ProfileSummary, Question } from '../../protocol/profile';
import type { CacheLine, Report } from '../../protocol/report';
import type { ThreadList } from '../../protocol/threads';

export type ShownQuestion = 'lines' | 'rows' | 'line' | 'code' | 'objects' | 'heat' | 'places' | 'data';

/** Of the recording that is open, by another filter than its own where one is said. */
export type TableQuestion = Pick<TableParams, 'by' | 'bins' | 'filter'> & { most: number };
export type ThreadsQuestion = Pick<ThreadsParams, 'bins' | 'filter'>;
export type TableAnswer = EngineCalls['table']['result'];

/** What a profile that is shown is asked. */
export interface ProfileSource {
  readonly summary: Omit<ProfileSummary, 'files'>;
  /** As a person writes it; empty: none. */
  readonly filter: string;
  /**
   * The same recording by another filter; this one then answers by that, too, and is to be let go. Rejects where it cannot have it.
   * @param onShare told what share of the samples is read, 0 to 1; never where the filter chooses lines alone
   */
  filtered(filter: string, signal: AbortSignal, onShare?: (share: number) => void): Promise<ProfileSource>;
  ask<Q extends ShownQuestion>(question: Extract<Question, { question: Q }>, signal?: AbortSignal): Promise<Answers[Q]>;
  /** With all selected lines, in the report's own order. */
  report(signal?: AbortSignal): Promise<Report>;
  /** What to change, without the edits. */
  advice(signal?: AbortSignal): Promise<AdviceList>;
  /** Reads the recording again, which is kept without what a table needs. */
  table(question: TableQuestion, signal: AbortSignal): Promise<TableAnswer>;
  /** Likewise. */
  threads(question: ThreadsQuestion, signal: AbortSignal): Promise<ThreadList>;
  close(): Promise<void>;
}

export class OpenProfile implements ProfileSource {
  readonly summary: ProfileSummary;

  private constructor(
    private readonly engine: Engine,
    private readonly params: OpenParams,
    private readonly shared: { handle: number; users: number; stamp: string },
    summary: ProfileSummary,
  ) {
    const { report, counts } = summary;
    const selected = { lines: counts.selected, of: counts.lines };
    this.summary = selected.lines < selected.of ? { ...summary, report: { ...report, selected } } : summary;
  }

  get filter(): string {
    return this.params.filter ?? '';
  }

  /** Rejects with EngineError, as all that follows. */
  static async open(engine: Engine, params: OpenParams, options: CallOptions<'open'>): Promise<OpenProfile> {
    const stamp = await recordingStamp(params.path);
    const { handle, summary } = await engine.call('open', params, options);
    return new OpenProfile(engine, params, { handle, users: 1, stamp }, summary);
  }

  async filtered(filter: string, signal: AbortSignal, onShare?: (share: number) => void): Promise<OpenProfile> {
    const options = { signal, ...(onShare === undefined ? {} : { onProgress: onShare }) };
    const summary = await this.engine.call('filter', { handle: this.shared.handle, filter }, options);
    this.shared.users++;
    return new OpenProfile(this.engine, { ...this.params, filter }, this.shared, summary);
  }

  async ask<Q extends Question['question']>(question: Extract<Question, { question: Q }>, signal?: AbortSignal): Promise<Answers[Q]> {
    const options = signal === undefined ? {} : { signal };
    return (await this.engine.call('ask', { handle: this.shared.handle, question }, options)) as Answers[Q];
  }

  async report(signal?: AbortSignal): Promise<Report> {
    const lines: CacheLine[] = [];
    for (let total = this.summary.counts.selected; lines.length < total;) {
      const page = await this.ask<'lines'>({ question: 'lines', offset: lines.length, count: MOST_LINES_AT_ONCE }, signal);
      for (const { line } of page.rows) lines.push(line);
      // Should the recording have changed on disk and been read again, there may be fewer.
      total = page.rows.length === 0 ? lines.length : page.total;
    }
    const { rows: objects } = await this.ask<'objects'>({ question: 'objects' }, signal);
    return { ...this.summary.report, objects, lines };
  }

  async advice(signal?: AbortSignal): Promise<AdviceList> {
    await this.requireSame();
    return this.engine.call('advise', { ...this.params, callers: false }, signal === undefined ? {} : { signal });
  }

  async table(question: TableQuestion, signal: AbortSignal): Promise<TableAnswer> {
    await this.requireSame();
    return this.engine.call('table', { ...this.params, ...question }, { signal });
  }

  async threads(question: ThreadsQuestion, signal: AbortSignal): Promise<ThreadList> {
    await this.requireSame();
    return this.engine.call('threads', { ...this.params, ...question }, { signal });
  }

  /** Of what is read again. */
  private requireSame(): Promise<void> {
    return requireStamp(this.params.path, this.shared.stamp);
  }

  async close(): Promise<void> {
    if (--this.shared.users === 0) await this.engine.call('close', { handle: this.shared.handle });
  }
}
