// What a debug configuration of the type `cacheline` asks for, as a command with its argument.
import { t } from '../../protocol/l10n';
import { resolveTarget, type LaunchTarget } from './launch';
import { attachRequest } from './profile-target';
import { LaunchError, type RecordingChoices } from './recording-choices';

export type ConfiguredCommand =
  | { command: 'cacheline.profile'; argument: LaunchTarget | undefined }
  | { command: 'cacheline.attach'; argument: ({ pid: number } & RecordingChoices) | undefined };

/**
 * @param configuration with the editor's variables replaced
 * @param folder the workspace folder, or undefined where none is open
 * @returns no argument where the program or process is to be asked for
 * @throws LaunchError
 */
export function configuredCommand(configuration: Readonly<Record<string, unknown>>, folder: string | undefined): ConfiguredCommand {
  const { request, program, pid } = configuration;
  switch (request) {
    case 'launch':
      return { command: 'cacheline.profile', argument: program === undefined ? undefined : resolveTarget(configuration, folder) };
    case 'attach':
      return { command: 'cacheline.attach', argument: pid === undefined ? undefined : attachRequest(configuration) };
    default:
      throw new LaunchError(t('"request" has to be "launch" or "attach", not {0}.', JSON.stringify(request ?? null)));
  }
}
