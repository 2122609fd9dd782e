// What the features look up in a profile, of a report that is here in full.
import { wholeOf, type Measure } from '../../extension/protocol/measure';
import type { Report } from '../../extension/protocol/report';
import { contendedTree, type TreeNode } from '../../extension/session/profile/contended-tree';
import { accessesOf, heatOfFile, lineHeat, placesOf, standsAt, type LineAccess, type LineHeat } from '../../extension/session/profile/heat';
import { codePlaces, ReportProfile } from '../../extension/session/profile/report-profile';
import { ShownProfile } from '../../extension/session/profile/shown-profile';
import { indexTypes, type TypeIndex } from '../../extension/session/layout/type-places';

/** Accesses of the code that stands on a source line. */
export function accessesAt(report: Report, file: string, line: number): LineAccess[] {
  return report.lines.flatMap((cacheLine) =>
    cacheLine.accesses.filter((access) => standsAt(access, { file, line })).map((access) => ({ cacheLine, access })),
  );
}

/** By file. */
export function heatsOf(report: Report, measure: Measure): Map<string, LineHeat[]> {
  const files = new Set([...accessesOf(report.lines)].flatMap((access) => placesOf(access).map(({ file }) => file)));
  const whole = wholeOf(report, measure);
  const heats = [...files].map((file): [string, LineHeat[]] => [
    file,
    heatOfFile(report.lines, file, measure).map((heat) => lineHeat(heat, file, measure, whole)),
  ]);
  return new Map(heats.filter(([, lines]) => lines.length > 0));
}

export function typesOf(report: Report): TypeIndex {
  return indexTypes(report, [...accessesOf(report.lines)]);
}

/** By line, of one file. */
export function codeOf(report: Report, file: string): Map<number, ReturnType<typeof codePlaces>[number]> {
  return new Map(
    codePlaces(report)
      .filter((place) => place.file === file)
      .map((place) => [place.line, place]),
  );
}

/** A node with all that is below it. */
export interface WholeNode extends Omit<TreeNode, 'children'> {
  children: WholeNode[];
}

export async function wholeTree(report: Report, measure: Measure): Promise<WholeNode[]> {
  const profile = await ShownProfile.of(new ReportProfile(report), 'made by hand', 'made by hand');
  const lines = profile.lines.bind(profile);
  return wholeNodes(contendedTree({ report: profile.report, data: await profile.dataBy(measure), lines }, measure));
}

function wholeNodes(nodes: readonly TreeNode[]): Promise<WholeNode[]> {
  return Promise.all(nodes.map(async (node) => ({ ...node, children: await wholeNodes(await node.children()) })));
}
