// The command "Check This Machine": what can be recorded here, why not the rest, and what would change it.
import * as vscode from 'vscode';
import type { Engine } from '../protocol/engine';
import { doctorText } from '../session/doctor-text';
import { showError } from './errors';

const WIDTH = 100;

/** Command: cacheline.checkMachine; returns the text. */
export async function checkMachine(
  engine: Engine,
  output: vscode.OutputChannel,
  log: vscode.LogOutputChannel,
): Promise<string | undefined> {
  try {
    const text = doctorText(await engine.call('doctor', {}), { width: WIDTH });
    output.append(text);
    output.show(true);
    return text;
  } catch (error) {
    showError(error, log);
    return undefined;
  }
}
