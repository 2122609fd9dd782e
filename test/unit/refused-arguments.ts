// Asserts that the command line refuses arguments with one clear sentence.
import assert from 'node:assert/strict';
import { parseArguments } from '../../extension/cli/arguments';
import { EngineError } from '../../extension/protocol/engine';

export function refuses(args: string[], message: RegExp): void {
  assert.throws(
    () => parseArguments(args),
    (error: unknown) => {
      assert.ok(error instanceof EngineError, String(error));
      assert.equal(error.kind, 'usage');
      assert.match(error.message, message);
      assert.match(error.message, /^[^\n]+\.$/, 'one sentence');
      assert.match(error.nextStep, /--help$/);
      return true;
    },
  );
}
