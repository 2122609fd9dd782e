// The grammar of `cacheline where`.
import assert from 'node:assert/strict';
import { parseArguments } from '../../extension/cli/arguments';
import { refuses } from './refused-arguments';

describe('arguments: where', () => {
  it('takes a process, or a program whose options stay its own', () => {
    assert.deepEqual(parseArguments(['where', '-p', '17']), { command: 'where', params: { pid: 17, seconds: 3 }, format: 'text' });
    assert.deepEqual(parseArguments(['where', '--pid=17', '--seconds', '0.5', '--format', 'json']), {
      command: 'where',
      params: { pid: 17, seconds: 0.5 },
      format: 'json',
    });
    const wanted = { command: 'where', params: { command: ['./a', '-p', '3'] }, format: 'text', output: 'o', svg: 's' };
    assert.deepEqual(parseArguments(['where', '-o', 'o', '--svg', 's', '--', './a', '-p', '3']), wanted);
    assert.deepEqual(parseArguments(['where', '-o', 'o', '--svg=s', './a', '-p', '3']), wanted);
    assert.deepEqual(parseArguments(['where', '--from', 'r']), { command: 'where', params: { command: [] }, from: 'r', format: 'text' });
    const help = parseArguments(['where', '--help']);
    assert.ok(help.command === 'help' && help.text.startsWith('Usage: cacheline where'));
    assert.deepEqual(parseArguments(['help', 'where']), help);
  });

  it('refuses what it cannot use', () => {
    refuses(['where'], /needs a process \(-p\) or a program/);
    refuses(['where', '-p', '17', './a'], /leave out the program '\.\/a'/);
    for (const pid of ['0', '-1', '1.5', 'x', '1,2', '4194305']) refuses(['where', '-p', pid], /-p takes one process/);
    refuses(['where', '--seconds', '1', './a'], /--seconds needs -p/);
    for (const seconds of ['0', '-1', 'x']) refuses(['where', '-p', '1', '--seconds', seconds], /--seconds takes/);
    refuses(['where', '-p', '1', '--format', 'csv'], /'csv'/);
    refuses(['where', '-o', '', './a'], /-o needs/);
    refuses(['where', '--svg', '', './a'], /--svg needs/);
    refuses(['where', '-o', 'f', '--svg', 'f', './a'], /same file/);
    refuses(['where', '--from', ''], /--from needs/);
    refuses(['where', '--from', 'r', './a'], /leave out '\.\/a'/);
    refuses(['where', '--from', 'r', '-p', '1'], /leave out '1'/);
    refuses(['where', '--from', 'r', '--svg', 's'], /--svg draws/);
    refuses(['where', '--from', 'r', '--seconds', '1'], /--seconds needs -p/);
    refuses(['where', '--no-such', './a'], /no-such/);
  });
});
