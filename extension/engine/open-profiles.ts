// Profiles that the client keeps open: each outlives the helper that holds it, and comes back in the next one with its filter.
import { EngineError } from '../protocol/engine';
import type { CallOptions, EngineCalls, OpenParams } from '../protocol/engine';
import { t } from '../protocol/l10n';
import { recordingStamp, requireStamp } from './recording-stamp';

/** A helper process, as far as profiles need it. */
export interface ProfileHelper {
  isEnded(): boolean;
  call<M extends 'open' | 'filter' | 'ask' | 'close'>(
    method: M,
    params: EngineCalls[M]['params'],
    options: CallOptions<M>,
  ): Promise<EngineCalls[M]['result']>;
}

interface OpenProfile {
  /** With the filter that holds now. */
  params: OpenParams;
  /** Of the recording when it was opened. */
  stamp: string;
  helper: ProfileHelper;
  /** The helper's. */
  handle: number;
  /** It comes back in another helper. */
  reopening: Promise<void> | undefined;
}

/** A question that takes longer is given up. */
const ANSWER_TIMEOUT_MS = 30_000;

export class OpenProfiles {
  private readonly profiles = new Map<number, OpenProfile>();
  private last = 0;

  /** @param start the helper that analyzes, started where there is none */
  constructor(
    private readonly start: () => Promise<ProfileHelper>,
    private readonly answerTimeoutMs = ANSWER_TIMEOUT_MS,
  ) {}

  get count(): number {
    return this.profiles.size;
  }

  async open(params: OpenParams, options: CallOptions<'open'>): Promise<EngineCalls['open']['result']> {
    const stamp = await recordingStamp(params.path);
    const helper = await this.start();
    const { handle, summary } = await helper.call('open', params, options);
    this.profiles.set(++this.last, { params, stamp, helper, handle, reopening: undefined });
    return { handle: this.last, summary };
  }

  async filter(
    { handle, filter }: EngineCalls['filter']['params'],
    options: CallOptions<'filter'>,
  ): Promise<EngineCalls['filter']['result']> {
    const profile = this.at(handle);
    const summary = await this.inHelper(profile, options.signal, () =>
      profile.helper.call('filter', { handle: profile.handle, filter }, options),
    );
    profile.params = { ...profile.params, filter };
    return summary;
  }

  ask({ handle, question }: EngineCalls['ask']['params'], { signal }: CallOptions<'ask'>): Promise<EngineCalls['ask']['result']> {
    const profile = this.at(handle);
    return this.inHelper(profile, signal, async () => {
      const late = AbortSignal.timeout(this.answerTimeoutMs);
      const ends = signal === undefined ? late : AbortSignal.any([signal, late]);
      try {
        return await profile.helper.call('ask', { handle: profile.handle, question }, { signal: ends });
      } catch (error) {
        throw late.aborted && signal?.aborted !== true ? new Late(this.answerTimeoutMs) : error;
      }
    });
  }

  async close({ handle }: EngineCalls['close']['params']): Promise<null> {
    const profile = this.at(handle);
    this.profiles.delete(handle);
    if (profile.helper.isEnded()) return null;
    try {
      return await profile.helper.call('close', { handle: profile.handle }, { signal: AbortSignal.timeout(this.answerTimeoutMs) });
    } catch (error) {
      // With its process the profile has gone, too.
      if (!profile.helper.isEnded()) throw error;
      return null;
    }
  }

  private at(handle: number): OpenProfile {
    const profile = this.profiles.get(handle);
    if (profile === undefined) throw new EngineError('usage', `No profile is open by the handle ${handle}.`);
    return profile;
  }

  /** Calls the helper that has the profile; where that ends meanwhile, once more in a new one. */
  private async inHelper<R>(profile: OpenProfile, signal: AbortSignal | undefined, call: () => Promise<R>): Promise<R> {
    await this.reopened(profile, signal);
    const { helper } = profile;
    try {
      return await call();
    } catch (error) {
      if (!helper.isEnded() || signal?.aborted || error instanceof Late) throw error;
    }
    await this.reopened(profile, signal);
    return call();
  }

  /** Who cancels a call does not wait for the profile; others may. */
  private async reopened(profile: OpenProfile, signal: AbortSignal | undefined): Promise<void> {
    if (!profile.helper.isEnded()) return;
    profile.reopening ??= this.reopen(profile).finally(() => (profile.reopening = undefined));
    await (signal === undefined ? profile.reopening : Promise.race([profile.reopening, cancelled(signal)]));
  }

  private async reopen(profile: OpenProfile): Promise<void> {
    await requireStamp(profile.params.path, profile.stamp);
    const helper = await this.start();
    const { handle } = await helper.call('open', profile.params, {});
    Object.assign(profile, { helper, handle });
  }
}

/** Rejects when the signal comes. */
function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(new EngineError('cancelled', t('The request was cancelled.')));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

class Late extends EngineError {
  constructor(milliseconds: number) {
    super(
      'internal',
      t('The Cacheline engine did not answer within {0} s.', milliseconds / 1000),
      t('Try again, or filter the profile to fewer samples.'),
    );
  }
}
