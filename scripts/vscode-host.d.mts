// Types of vscode-host.mjs for the tests.
export interface VSCodeVersion {
  name: string;
  codeServer: string;
  nativeModules: string[];
  node?: string;
  ripgrep?: string;
}

export interface VSCodeServer {
  version: string;
  address: string;
  log: string;
  url(folder: string, payload?: [string, string][]): string;
  stop(): Promise<void>;
}

export interface ServerOptions {
  dataFolder: string;
  settings?: Record<string, unknown>;
  env?: Record<string, string>;
  restricted?: boolean;
  smokeTest?: boolean;
}

export const versions: VSCodeVersion[];
export const chromiumArguments: string[];
export function prepare(version: VSCodeVersion): Promise<void>;
export function installExtension(version: VSCodeVersion, dataFolder: string, vsix: string): Promise<void>;
export function startServer(version: VSCodeVersion, options: ServerOptions): Promise<VSCodeServer>;
export function extensionHostLogs(dataFolder: string): Promise<string>;
