// Types of theia-host.mjs for the tests.
export interface TheiaServer {
  url: string;
  log: string;
  stop(): Promise<void>;
}

export interface TheiaOptions {
  workspace: string;
  configFolder: string;
  vsix: string;
  settings?: Record<string, unknown>;
}

export const theiaVersion: string;
export function prepareTheia(): Promise<void>;
export function startTheia(options: TheiaOptions): Promise<TheiaServer>;
