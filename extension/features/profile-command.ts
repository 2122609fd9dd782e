// The command "Profile for False Sharing": runs a program, records it, and shows what its threads contend for.
// Commands: cacheline.profile (optional argument { program, args, cwd, env, duration, frequency, collector, confirm, watch }; returns the
// recording's path).
import * as vscode from 'vscode';
import { resolveTarget } from '../session/record/launch';
import { showError } from './errors';
import { refuseUntrusted, type Profiler } from './profiler';
import type { ProgramPicker } from './program-picker';

export class ProfileCommand {
  constructor(
    private readonly profiler: Profiler,
    private readonly picker: ProgramPicker,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Returns the recording's path; undefined where nothing was recorded. */
  async run(argument: unknown): Promise<string | undefined> {
    try {
      refuseUntrusted();
      const target = argument === undefined ? await this.picker.pick() : resolveTarget(argument, defaultFolder());
      if (!target) return undefined;
      await this.picker.remember(target);
      return (await this.profiler.run({ kind: 'program', ...target })).path;
    } catch (error) {
      showError(error, this.log);
      return undefined;
    }
  }
}

function defaultFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}
