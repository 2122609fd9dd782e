// --help and docs/commands.md, both made of the tables of options.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { COMMANDS, parseArguments } from '../../extension/cli/arguments';
import { generalHelp } from '../../extension/cli/help';
import { COMMAND_NAMES, GENERAL, optionsOf } from '../../extension/cli/options';
import { matchGolden } from './golden';

function help(...args: string[]): string {
  const parsed = parseArguments(args);
  assert.equal(parsed.command, 'help');
  return 'text' in parsed ? parsed.text : '';
}

describe('help', () => {
  it('is the same by all ways to ask for it', () => {
    assert.equal(help('--help'), generalHelp(COMMANDS));
    for (const name of COMMAND_NAMES) {
      assert.equal(help(name, '--help'), help('help', name));
      assert.equal(help(name, '-h'), help('help', name));
    }
    assert.throws(() => parseArguments(['help', 'dance']), /Unknown command 'dance'/);
  });

  it('fits on a terminal of 80 columns', () => {
    const lines = ['', ...COMMAND_NAMES].flatMap((name) => help('help', ...(name === '' ? [] : [name])).split('\n'));
    assert.deepEqual(
      lines.filter((line) => line.length > 80),
      [],
    );
  });

  it('no two options of a command share a letter', () => {
    for (const command of COMMANDS) {
      const letters = Object.values(optionsOf(command)).flatMap(({ short }) => short ?? []);
      assert.deepEqual(letters, [...new Set(letters)], command.name);
      assert.equal(
        command.groups.flatMap(({ options }) => Object.keys(options)).length,
        Object.keys(optionsOf(command)).length,
        command.name,
      );
    }
  });

  it('every command takes --color and --quiet', () => {
    for (const { name, groups } of COMMANDS) {
      assert.ok(
        groups.some(({ options }) => Object.keys(GENERAL.options).every((option) => option in options)),
        name,
      );
    }
    assert.throws(() => parseArguments(['report', '--color=pink']), { message: "--color is auto, always or never, not 'pink'." });
    const wanted = { ...parseArguments(['doctor']), color: 'never', quiet: true };
    assert.deepEqual(parseArguments(['doctor', '--color=never', '-q']), wanted);
    assert.deepEqual(parseArguments(['doctor', '--color=auto']), parseArguments(['doctor']));
  });

  it('docs/commands.md has it', () => {
    const sections = COMMAND_NAMES.map((name) => `## ${name}\n\n\`\`\`text\n${help('help', name)}\`\`\`\n`);
    const text = `# Commands and options\n\nWhat \`cacheline COMMAND --help\` prints.\n\n${sections.join('\n')}`;
    matchGolden(join('../../../docs', 'commands.md'), text);
  });
});
