// The one profile that the gutter, the hovers and the panel show. Context key: `cacheline.hasProfile`.
import * as vscode from 'vscode';
import type { Measure } from '../protocol/measure';
import type { Report, SourcePlace } from '../protocol/report';
import { heatOfReport, indexAccesses, type AccessIndex, type LineAccess, type LineHeat } from '../session/heat';
import type { OpenProfile } from '../session/open-profile';
import { indexTypes, type TypeIndex } from '../session/type-places';

/** A variable at the place that defines it, with all accesses to it. */
export interface Definition {
  object: string;
  place: SourcePlace;
  accesses: LineAccess[];
}

/** A report and what the features look up in it. */
export class ShownProfile {
  readonly accesses: AccessIndex;
  private readonly heats = new Map<Measure, Map<string, LineHeat[]>>();
  /** By file and line. */
  readonly definitions = new Map<string, Map<number, Definition[]>>();
  private typeIndex: TypeIndex | undefined;
  private holders = 0;

  /**
   * @param path the recording: a `.cacheline` folder or a perf.data file
   * @param title for people: the program's name
   * @param opened the recording in the engine, closed by the last release(); undefined: the report was made elsewhere
   */
  constructor(
    readonly report: Report,
    readonly path: string,
    readonly title: string,
    readonly opened?: OpenProfile,
  ) {
    this.accesses = indexAccesses(report);
    for (const cacheLine of report.lines) {
      for (const access of cacheLine.accesses) this.addDefinition({ cacheLine, access });
    }
  }

  /** Somebody shows it from now on, until as many release(). */
  hold(): void {
    this.holders++;
  }

  /** Nobody waits for the engine to close it. */
  release(log: vscode.LogOutputChannel): void {
    if (--this.holders === 0) this.opened?.close().catch((error: unknown) => log.error(`${this.path}: ${String(error)}`));
  }

  /** Types that samples touched. */
  get types(): TypeIndex {
    return (this.typeIndex ??= indexTypes(this.report));
  }

  /** By the report's file names. */
  heat(measure: Measure): Map<string, LineHeat[]> {
    let heat = this.heats.get(measure);
    if (!heat) this.heats.set(measure, (heat = heatOfReport(this.report, measure, this.accesses)));
    return heat;
  }

  /** Every place of the report that has a source line: what may be opened and what is followed through edits. */
  places(): Map<string, Set<number>> {
    const places = new Map<string, Set<number>>();
    const add = (file: string, lines: Iterable<number>): void => {
      const known = places.get(file) ?? new Set();
      for (const line of lines) known.add(line);
      places.set(file, known);
    };
    for (const [file, lines] of this.accesses) add(file, lines.keys());
    for (const [file, lines] of this.definitions) add(file, lines.keys());
    for (const [file, lines] of this.types) add(file, lines.keys());
    for (const { definition } of this.report.objects) if (definition) add(definition.file, [definition.line]);
    return places;
  }

  private addDefinition(lineAccess: LineAccess): void {
    const { object, definition } = lineAccess.access.data;
    if (!definition) return;
    let lines = this.definitions.get(definition.file);
    if (!lines) this.definitions.set(definition.file, (lines = new Map<number, Definition[]>()));
    let there = lines.get(definition.line);
    if (!there) lines.set(definition.line, (there = []));
    const known = there.find((other) => other.object === object);
    if (known) known.accesses.push(lineAccess);
    else there.push({ object, place: definition, accesses: [lineAccess] });
  }
}

export class CurrentProfile implements vscode.Disposable {
  private profile: ShownProfile | undefined;
  private readonly changed = new vscode.EventEmitter<ShownProfile | undefined>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  get(): ShownProfile | undefined {
    return this.profile;
  }

  async set(profile: ShownProfile | undefined): Promise<void> {
    const before = this.profile;
    profile?.hold();
    this.profile = profile;
    this.changed.fire(profile);
    before?.release(this.log);
    await vscode.commands.executeCommand('setContext', 'cacheline.hasProfile', profile !== undefined);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
