// The native addon: where it is found, its types, and the engine that calls it in this process.
// Used by the command line and by the helper process; never by the extension host, which an addon crash would end.
import { accessSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type { CalibrationResult } from '../protocol/calibration';
import { EngineError } from '../protocol/engine';
import type { AdviceList } from '../protocol/advice';
import type {
  AnalyzeParams,
  BinaryInfo,
  CallOptions,
  DeclarationsParams,
  DoctorReport,
  Engine,
  EngineCalls,
  EngineErrorKind,
  EngineMethod,
  LayoutParams,
  OpenParams,
  RecordParams,
  RecordProgress,
  RecordResult,
  SumsParams,
  SuspectsAnswer,
  TableParams,
  ThreadsParams,
  WorksetParams,
} from '../protocol/engine';
import type { DeclarationList, LayoutList, TypeList } from '../protocol/layout';
import type { Answer, ProfileSummary, Question } from '../protocol/profile';
import type { ThreadList } from '../protocol/threads';
import type { Trace } from '../protocol/trace';
import type { LiveWhere, WhereOutcome, WhereParams } from '../protocol/where';
import type { WorksetSurvey } from '../protocol/workset';
import { withFullStop } from '../protocol/words';
import { headOf, reportOf, type ReportPieces } from './report-pieces';
import { firstRowsOf, tableRowsOf, type TablePieces } from './table-pieces';
import { looksBy, type Looks } from './suspects';

export interface NativeJob<R> {
  done: Promise<R>;
  /** record, where: ends it and keeps what there is. analyze: cancels. */
  stop(): void;
}

/** A recording that watches what is suspect wants to be told of it: each progress with `suspectsOf` asks once. */
interface RecordJob extends NativeJob<RecordResult> {
  tell?(answer: SuspectsAnswer): void;
}

/** What an analysis gives. */
export interface AnalysisTexts {
  /** The JSON text of the report. */
  pieces: ReportPieces;
  /** The tables that were asked for, in UTF-8, cut between two rows; none of a recording without data sources. */
  tables: readonly Uint8Array[];
}

/** What the call `sums` gives. */
export interface SumsTexts {
  report: ReportPieces;
  /** Of each table, in the order in which they were asked for. */
  tables: readonly TablePieces[];
}

/** What `cacheline.node` exports. Its errors are JavaScript errors with `kind` and `nextStep`. */
export interface NativeAddon {
  version(): string;
  record(params: RecordParams, onProgress: (progress: RecordProgress & { suspectsOf?: string }) => void): RecordJob;
  /** Resolves with JSON text. */
  suspects(params: { path: string }): NativeJob<string>;
  forget(params: { path: string }): void;
  analyze(params: AnalyzeParams, onProgress: (share: number) => void): NativeJob<AnalysisTexts>;
  /** The calls about open profiles resolve with JSON text. */
  open(params: OpenParams, onProgress: (share: number) => void): NativeJob<{ handle: number; summary: string }>;
  filter(params: EngineCalls['filter']['params'], onProgress: (share: number) => void): NativeJob<string>;
  ask(params: { handle: number } & Question): NativeJob<string>;
  /** Resolves with JSON text. */
  advise(params: OpenParams, onProgress: (share: number) => void): NativeJob<string>;
  /** Resolves with the pieces of a table's JSON text. */
  table(params: TableParams, onProgress: (share: number) => void): NativeJob<TablePieces>;
  /** The keys of each table as one text. */
  sums(params: Omit<SumsParams, 'by'> & { by: string[] }, onProgress: (share: number) => void): NativeJob<SumsTexts>;
  /** Resolves with JSON text. */
  threads(params: ThreadsParams, onProgress: (share: number) => void): NativeJob<string>;
  workset(params: WorksetParams, onProgress: (share: number) => void): NativeJob<string>;
  /** Resolves with JSON text. */
  trace(params: { path: string }): NativeJob<string>;
  close(params: { handle: number }): void;
  /** Resolves with the JSON text of the doctor's report. */
  doctor(params: EngineCalls['doctor']['params']): Promise<string>;
  /** Resolves with the JSON text of the result. */
  calibrate(): NativeJob<string>;
  /** `where` of the result is JSON text. */
  where(params: WhereParams, onProgress: (seconds: number) => void): NativeJob<Omit<WhereOutcome, 'where'> & { where: string }>;
  inspect(paths: string[]): Promise<BinaryInfo[]>;
  /** The questions about types resolve with JSON text. */
  layout(params: LayoutParams): Promise<string>;
  types(params: { binary: string }): Promise<string>;
  declarations(params: DeclarationsParams): Promise<string>;
}

const NATIVE_KINDS: ReadonlySet<string> = new Set<EngineErrorKind>(['usage', 'unreadable', 'impossible', 'io', 'cancelled', 'internal']);

/**
 * Where the addon is looked for, best first: the environment's choice alone, or this package's own build, or its packaged copy.
 * The build comes first so that a checkout that was packaged once never runs the old copy.
 * @param here the folder of this file, or of the bundle it was put into
 */
export function addonCandidates(here: string, environment: NodeJS.ProcessEnv): string[] {
  const chosen = environment['CACHELINE_ADDON'];
  if (chosen !== undefined && chosen !== '') return [resolve(chosen)];
  const root = packageRoot(here);
  return [join(root, 'build/release/native/addon/cacheline.node'), join(root, 'dist/native/cacheline.node')];
}

/** Nothing outside of the package is ever loaded. */
function packageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new EngineError('internal', `There is no package.json above ${__dirname}.`, 'Reinstall Cacheline Lens.');
  return packageRoot(parent);
}

/** @throws EngineError 'unavailable' with every path that was tried and what the loader said. */
export function loadAddon(candidates = addonCandidates(__dirname, process.env)): NativeAddon {
  const tried: string[] = [];
  for (const path of candidates) {
    try {
      accessSync(path);
    } catch (error) {
      tried.push(`${path}: ${(error as NodeJS.ErrnoException).code ?? 'cannot be read'}`);
      continue;
    }
    try {
      return createRequire(path)(path) as NativeAddon;
    } catch (error) {
      // A file that is there and does not load is the answer; an older one further down the list would hide it.
      throw new EngineError(
        'unavailable',
        `The native addon ${path} could not be loaded: ${messageOf(error)}.`,
        'Run "npm run build" in a checkout, or install the package made for this system (linux-x64).',
      );
    }
  }
  throw new EngineError(
    'unavailable',
    `The native addon was not found (${tried.join('; ')}).`,
    'Run "npm run build" in a checkout, or reinstall Cacheline Lens.',
  );
}

/** Whatever the addon threw, as the one error type of the engine: there a message is a sentence, which the next step follows. */
export function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof Error) {
    const { kind, nextStep } = error as { kind?: unknown; nextStep?: unknown };
    if (typeof kind === 'string' && NATIVE_KINDS.has(kind)) {
      return new EngineError(kind as EngineErrorKind, withFullStop(error.message), typeof nextStep === 'string' ? nextStep : '');
    }
  }
  return new EngineError(
    'internal',
    withFullStop(messageOf(error)),
    'This is a bug in Cacheline Lens: please report it with this message.',
  );
}

type Handlers = { [M in EngineMethod]: (params: EngineCalls[M]['params'], options: CallOptions<M>) => Promise<EngineCalls[M]['result']> };

/** The addon in this process. */
export class NativeEngine implements Engine {
  private readonly handlers: Handlers = {
    record: (params, options) => this.record(params, options),
    suspects: (params, { signal }) => this.job(() => this.addon.suspects(params), signal),
    forget: async (params) => {
      this.addon.forget(params);
      return Promise.resolve(null);
    },
    analyze: async (params, options) => reportOf((await this.analyzeTexts(params, options)).pieces),
    advise: async (params, { signal, onProgress }) =>
      JSON.parse(await this.job(() => this.addon.advise(params, (share) => onProgress?.(share)), signal)) as AdviceList,
    sums: async (params, options) => {
      const { report, tables } = await this.sums(params, options);
      return { report: headOf(report), tables: tables.map((pieces) => [...tableRowsOf(pieces)]) };
    },
    table: async ({ most, ...params }, options) => firstRowsOf(await this.table(params, options), most),
    threads: async (params, { signal, onProgress }) =>
      JSON.parse(await this.job(() => this.addon.threads(params, (share) => onProgress?.(share)), signal)) as ThreadList,
    workset: async (params, { signal, onProgress }) =>
      JSON.parse(await this.job(() => this.addon.workset(params, (share) => onProgress?.(share)), signal)) as WorksetSurvey,
    trace: async (params, { signal }) => JSON.parse(await this.job(() => this.addon.trace(params), signal)) as Trace,
    open: async (params, { signal, onProgress }) => {
      const { handle, summary } = await this.job(() => this.addon.open(params, (share) => onProgress?.(share)), signal);
      return { handle, summary: JSON.parse(summary) as ProfileSummary };
    },
    filter: async (params, { signal, onProgress }) =>
      JSON.parse(await this.job(() => this.addon.filter(params, (share) => onProgress?.(share)), signal)) as ProfileSummary,
    ask: async ({ handle, question }, { signal }) =>
      JSON.parse(await this.job(() => this.addon.ask({ ...question, handle }), signal)) as Answer,
    close: async (params) => {
      this.addon.close(params);
      return Promise.resolve(null);
    },
    doctor: async (params) => JSON.parse(await this.doctorText(params)) as DoctorReport,
    calibrate: async (_, { signal }) => JSON.parse(await this.job(() => this.addon.calibrate(), signal)) as CalibrationResult,
    where: async (params, { signal, onProgress }) => {
      const outcome = await this.job(() => this.addon.where(params, (seconds) => onProgress?.(seconds)), signal);
      return { ...outcome, where: JSON.parse(outcome.where) as LiveWhere };
    },
    inspect: ({ paths }) => this.addon.inspect(paths),
    layout: async (params) => JSON.parse(await this.addon.layout(params)) as LayoutList,
    types: async (params) => JSON.parse(await this.addon.types(params)) as TypeList,
    declarations: async (params) => JSON.parse(await this.addon.declarations(params)) as DeclarationList,
  };

  private readonly looks: Looks;

  /** @param looks by default of this process */
  constructor(
    private readonly addon: NativeAddon,
    looks?: Looks,
  ) {
    this.looks = looks ?? looksBy(this);
  }

  /** `doctor`, `inspect` and what asks about types ignore the signal. */
  async call<M extends EngineMethod>(
    method: M,
    params: EngineCalls[M]['params'],
    options: CallOptions<M> = {},
  ): Promise<EngineCalls[M]['result']> {
    try {
      return await this.handlers[method](params, options);
    } catch (error) {
      throw toEngineError(error);
    }
  }

  /** `analyze` as the texts that the addon wrote. Rejects with EngineError only. */
  async analyzeTexts(params: AnalyzeParams, options: CallOptions<'analyze'> = {}): Promise<AnalysisTexts> {
    try {
      return await this.job(() => this.addon.analyze(params, (share) => options.onProgress?.(share)), options.signal);
    } catch (error) {
      throw toEngineError(error);
    }
  }

  /** A table's JSON text as the addon wrote it. Rejects with EngineError only. */
  async table(params: TableParams, options: CallOptions<'table'> = {}): Promise<TablePieces> {
    try {
      return await this.job(() => this.addon.table(params, (share) => options.onProgress?.(share)), options.signal);
    } catch (error) {
      throw toEngineError(error);
    }
  }

  /** `sums` as the texts that the addon wrote, perhaps with the lines of the report. Rejects with EngineError only. */
  async sums({ by, ...params }: SumsParams, options: CallOptions<'sums'> = {}): Promise<SumsTexts> {
    try {
      const texts = { ...params, by: by.map((keys) => keys.join(',')) };
      return await this.job(() => this.addon.sums(texts, (share) => options.onProgress?.(share)), options.signal);
    } catch (error) {
      throw toEngineError(error);
    }
  }

  /** `doctor` as the JSON text that the addon wrote. Rejects with EngineError only. */
  async doctorText(params: EngineCalls['doctor']['params'] = {}): Promise<string> {
    try {
      return await this.addon.doctor(params);
    } catch (error) {
      throw toEngineError(error);
    }
  }

  private async record(params: RecordParams, { signal, onProgress }: CallOptions<'record'>): Promise<RecordResult> {
    const ended = new AbortController();
    let looked: string | undefined;
    try {
      return await this.job(() => {
        const job = this.addon.record(params, ({ suspectsOf, ...progress }) => {
          looked = suspectsOf ?? looked;
          if (suspectsOf === undefined) onProgress?.(progress);
          else void this.looks.find(suspectsOf, ended.signal).then((answer) => job.tell?.(answer));
        });
        return job;
      }, signal);
    } finally {
      ended.abort();
      if (looked !== undefined) this.looks.forget(looked);
    }
  }

  private async job<R>(start: () => NativeJob<R>, signal: AbortSignal | undefined): Promise<R> {
    const job = start();
    const stop = (): void => job.stop();
    if (signal?.aborted) job.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await job.done;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
