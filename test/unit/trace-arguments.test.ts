// The grammar of `cacheline trace`.
import assert from 'node:assert/strict';
import { parseArguments } from '../../extension/cli/arguments';
import { refuses } from './refused-arguments';

describe('arguments: trace', () => {
  it('takes a type and a program whose options stay its own', () => {
    assert.deepEqual(parseArguments(['trace', 'packet', '--', './a', '--svg', 'x']), {
      command: 'trace',
      format: 'text',
      run: { request: { type: 'packet' }, program: ['./a', '--svg', 'x'], force: false },
    });
    const all = ['--budget', '5', 'ns::packet.next', '--instances=7', '-o', 'd', '--force', '--format', 'json', '--svg', 's', '--', './a'];
    assert.deepEqual(parseArguments(['trace', ...all]), {
      command: 'trace',
      format: 'json',
      svg: 's',
      run: { request: { type: 'ns::packet.next', budget: 0.05, instances: 7 }, program: ['./a'], directory: 'd', force: true },
    });
  });

  it('shows the trace of a recording', () => {
    assert.deepEqual(parseArguments(['trace', '--from', 'a.cacheline']), { command: 'trace', format: 'text', from: 'a.cacheline' });
    assert.deepEqual(parseArguments(['trace', '--from', 'a', '--costs', 'b']), { command: 'trace', format: 'text', from: 'a', costs: 'b' });
    const help = parseArguments(['trace', '--help']);
    assert.ok(help.command === 'help' && help.text.startsWith('Usage: cacheline trace'));
    assert.deepEqual(parseArguments(['help', 'trace']), help);
    for (const line of help.text.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('refuses what it cannot use', () => {
    refuses(['trace'], /needs a type/);
    refuses(['trace', ' ', '--', './a'], /needs a type/);
    refuses(['trace', 'packet'], /needs a program/);
    refuses(['trace', 'packet', '--'], /needs a program/);
    refuses(['trace', 'packet', './a'], /'\.\/a' follows 'packet': put the program after --/);
    for (const budget of ['0', '-1', '101', 'x']) refuses(['trace', 'p', '--budget', budget, '--', 'a'], /--budget takes/);
    for (const instances of ['0', '1.5', '1000001', 'x']) refuses(['trace', 'p', '--instances', instances, '--', 'a'], /--instances takes/);
    refuses(['trace', 'p', '--format', 'csv', '--', 'a'], /'csv'/);
    refuses(['trace', 'p', '--svg', '', '--', 'a'], /--svg needs/);
    refuses(['trace', 'p', '-o', '', '--', 'a'], /-o needs/);
    refuses(['trace', '--from', ''], /--from needs/);
    refuses(['trace', '--from', 'r', '--costs', ''], /--costs needs/);
    refuses(['trace', '--from', 'r', 'p'], /leave out 'p'/);
    refuses(['trace', '--from', 'r', '--budget', '2'], /--budget is for running/);
    refuses(['trace', '--no-such'], /no-such/);
  });
});
