// The command "Attach to Process": records a process that runs until it is stopped, and shows what its threads contend for.
// Commands: cacheline.attach (optional argument { pid, duration, frequency, collector, confirm, watch }; returns the recording's path),
// cacheline.pickProcess (for debug configurations: returns the digits of the process that is chosen).
import * as vscode from 'vscode';
import { byInterest, findProcess, listProcesses } from '../session/record/processes';
import { processItems, type ProcessItem } from '../session/record/process-list';
import { attachRequest, processTarget } from '../session/record/profile-target';
import { showError } from './errors';
import { refuseUntrusted, type Profiler } from './profiler';

/** The busy ones are told apart within this time. */
const LOOK_MS = 150;

export class AttachCommand {
  constructor(
    private readonly profiler: Profiler,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Returns the recording's path; undefined where nothing was recorded. */
  async run(argument: unknown): Promise<string | undefined> {
    try {
      refuseUntrusted();
      const pid = argument === undefined ? await this.pickProcess() : undefined;
      if (argument === undefined && pid === undefined) return undefined;
      const request = attachRequest(argument ?? { pid });
      return (await this.profiler.run(processTarget(request, await findProcess(request.pid)))).path;
    } catch (error) {
      showError(error, this.log);
      return undefined;
    }
  }

  /** Undefined where the person gave up. */
  async pickProcess(): Promise<string | undefined> {
    const uid = process.getuid?.() ?? -1;
    const items = listProcesses({ intervalMs: LOOK_MS }).then((found) =>
      processItems(
        byInterest(
          found.filter(({ pid }) => pid !== process.pid),
          uid,
        ),
        uid,
      ).map(quickPickItem),
    );
    const chosen = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Attach to Process'),
      placeHolder: vscode.l10n.t('Choose the process to record, by name, number, user or command line'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    return chosen?.pid;
  }
}

function quickPickItem(item: ProcessItem): vscode.QuickPickItem & { pid?: string } {
  if (item.kind === 'group') return { label: item.label, kind: vscode.QuickPickItemKind.Separator };
  return { label: item.label, description: item.description, detail: item.detail, pid: String(item.pid) };
}
