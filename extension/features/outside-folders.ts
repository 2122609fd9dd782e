// Source files outside of the workspace and of the source map. A recording can name any file of the machine: so they are read
// only where the person agrees, who is asked once a folder and session, and never in a workspace that is not trusted.
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { covers, topFolders } from '../session/lines/source-map';
import { enumerate } from '../session/text/terminal-text';
import { showInformation } from './notify';

/** Folders in one question, which names them all. */
const MAX_NAMED = 3;

export class OutsideFolders {
  /** Undefined: asked, and not answered yet. */
  private readonly answers = new Map<string, boolean | undefined>();

  /** @param file without symbolic links; undefined: not answered yet */
  mayRead(file: string): boolean | undefined {
    if (!vscode.workspace.isTrusted) return false;
    const folder = dirname(file);
    const answers = [...this.answers].filter(([asked]) => covers(asked, folder)).map(([, answer]) => answer);
    return answers.includes(true) || (answers.includes(false) ? false : undefined);
  }

  /** Asks for the folders that were not asked for; whether one more may be read. */
  async ask(files: Iterable<string>): Promise<boolean> {
    if (!vscode.workspace.isTrusted) return false;
    const asked = [...this.answers.keys()];
    const open = topFolders(files).filter((folder) => !asked.some((other) => covers(other, folder)));
    for (const folder of open) this.answers.set(folder, undefined);
    let agreed = false;
    for (let first = 0; first < open.length; first += MAX_NAMED) {
      const folders = open.slice(first, first + MAX_NAMED);
      const text = vscode.l10n.t('The recording has source files outside this workspace, in {0}. Allow reading them?', enumerate(folders));
      const answer = (await showInformation(text, vscode.l10n.t('Allow'))) !== undefined;
      for (const folder of folders) this.answers.set(folder, answer);
      agreed ||= answer;
    }
    return agreed;
  }
}
