// Edits of structures, by hazard: the compilers judge what is edited, goldens hold the patches and the reasons.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from '../../extension/protocol/advice';
import { editOf } from '../../extension/session/advice/edit';
import { editCases, type EditCase } from './advice-edit-cases';
import { macroCases } from './advice-edit-macro-cases';
import { orderCases } from './advice-edit-order-cases';
import { editShapes } from './advice-edit-shapes';
import {
  assertApplies,
  assertCompiles,
  assertEdits,
  assertLayout,
  closeWorkspace,
  compiled,
  layoutOf,
  membersChange,
  openWorkspace,
  reasonOf,
  referenceOf,
  sources,
  type Workspace,
} from './advice-edits';
import { matchGolden } from './golden';

describe('edits of structures', () => {
  let workspace: Workspace;
  before(() => (workspace = openWorkspace()));
  after(() => closeWorkspace(workspace));

  /** @returns what goes into the golden: the patch or the reason */
  async function judged({ file, text, type, order, reason }: EditCase): Promise<string> {
    const path = join(workspace.folder, file);
    writeFileSync(path, text);
    const binary = compiled(path);
    const reference = referenceOf(await layoutOf(workspace, binary, type), binary, path);
    const change: Change = order === 'align' ? { kind: 'align-type', type: reference, alignment: 64 } : membersChange(reference, order);
    const answer = await editOf(change, sources);
    if (reason) {
      assert.match(reasonOf(answer), reason);
      return `${reasonOf(answer)}\n`.replaceAll(`${workspace.folder}/`, '');
    }
    assertEdits(answer);
    const patch = assertApplies(workspace, answer);
    const [edit] = answer.files;
    assert.equal(edit?.file, path);
    writeFileSync(path, edit.after);
    for (const object of Object.values(assertCompiles(path))) {
      const layout = await layoutOf(workspace, object, type);
      if (change.kind === 'members') assertLayout(layout, change);
      else assert.equal(layout.size % 64, 0);
    }
    return patch;
  }

  for (const [hazard, cases] of Object.entries({ ...editCases, ...macroCases, ...orderCases, ...editShapes }))
    it(hazard, async () => {
      let golden = '';
      for (const one of cases) {
        try {
          golden += `# ${one.name}\n${await judged(one)}\n`;
        } catch (error) {
          throw new Error(`${hazard}: ${one.name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
        }
      }
      matchGolden(`edit-${hazard.replaceAll(' ', '-')}.txt`, golden);
    });
});
