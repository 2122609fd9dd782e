// Locks by the names of their members, and the engine's table of them; UPDATE_GOLDENS=1 writes that anew.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK_HOLDERS, lockOf, LOCKS } from '../../extension/session/report/lock-names';

const header = join(__dirname, '../../native/c2c/lock_names.h');

function headerText(): string {
  const members = LOCKS.flatMap(({ name, members }) => members.map((start) => `    {"${start}", "${name}"},\n`));
  return [
    '// The locks of pthreads by the names of their members. Written by test/unit/lock-names.test.ts out of the table\n',
    '// in extension/session/report/lock-names.ts.\n',
    '#pragma once\n\n#include <string_view>\n\nnamespace cacheline::c2c {\n\n',
    'struct LockMember {\n  std::string_view start;  ///< of the names of members\n  std::string_view lock;   ///< what they are of\n};\n\n',
    `// clang-format off\ninline constexpr LockMember kLockMembers[] = {\n${members.join('')}};\n\n`,
    '/// Members of classes that hold nothing but such a lock.\n',
    `inline constexpr std::string_view kLockHolders[] = {${LOCK_HOLDERS.map((name) => `"${name}"`).join(', ')}};\n`,
    '// clang-format on\n\n}  // namespace cacheline::c2c\n',
  ].join('');
}

describe('locks by their members', () => {
  it('are known by what they are made of', () => {
    assert.deepEqual(lockOf('pool.lock._M_mutex.__data.__owner | pool.lock._M_mutex.__align'), { field: 'pool.lock', lock: 'mutex' });
    assert.deepEqual(lockOf('__data.__wseq.__value64'), { field: '', lock: 'condition variable' });
  });

  it('are not what anybody else calls so', () => {
    assert.equal(lockOf('my__data.__lock'), undefined);
    assert.equal(lockOf('__data.__mine'), undefined);
    assert.equal(lockOf('lock.owner'), undefined);
  });

  it('are the same in the engine', () => {
    if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(header, headerText());
    assert.equal(readFileSync(header, 'utf8'), headerText(), 'UPDATE_GOLDENS=1 writes the engine’s table');
  });
});
