// Watchpoints on virtual machines: who is warned, and of what.
import assert from 'node:assert/strict';
import { endedByTrap, readCpuInfo, watchHazard } from '../../extension/session/record/watch-hazard';

const VIRTUAL = 'processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\nbugs\t\t:\n';
const REAL = 'processor\t: 0\nflags\t\t: fpu vme lahf_lm\nmodel name\t: hypervisor\n';
const watch = { expressions: [], confirm: true };
const attach = { kind: 'processes' as const, ids: [1] };

describe('the hazard of watchpoints', () => {
  it('is told before a running process is watched on a virtual machine', () => {
    assert.match(watchHazard({ watch, attach }, VIRTUAL) ?? '', /virtual machine.* ends by SIGTRAP/);
    assert.equal(watchHazard({ watch, attach }, REAL), undefined);
    assert.equal(watchHazard({ attach }, VIRTUAL), undefined);
    assert.equal(watchHazard({ watch }, VIRTUAL), undefined);
  });

  it('is told of a program that ended so', () => {
    assert.match(endedByTrap({ watch }, { signal: 5 }) ?? '', /^the program ended by SIGTRAP while words of it were watched\./);
    assert.equal(endedByTrap({ watch }, { signal: 11 }), undefined);
    assert.equal(endedByTrap({ watch }, { signal: null }), undefined);
    assert.equal(endedByTrap({}, { signal: 5 }), undefined);
  });

  it('is known from the kernel’s own words', async () => {
    assert.match(await readCpuInfo(), /^flags\s*:/m);
  });
});
