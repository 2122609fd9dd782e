// Scripts that complete the command line in shells, made of the tables of options.
import { listedOptions } from './help';
import type { Shell } from './completions-arguments';
import { optionsOf, type Command, type Completion, type Option } from './options';

/** @returns the text of a script for the shell to read */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

const SETUP = (shell: Shell): string => `# Completes cacheline in ${shell}. Made by: cacheline completions ${shell}`;

const options = (command: Command): [string, Option & { help: string }][] => listedOptions(optionsOf(command));

/** As the shells take it literally, between single quotes. */
const quoted = (text: string, quote: string): string => `'${text.replaceAll("'", quote)}'`;

const spellings = (name: string, { short }: Option): string[] => [...(short === undefined ? [] : [`-${short}`]), `--${name}`];

const takingValues = (command: Command): [string, Option & { help: string }][] =>
  options(command).filter(([, { type }]) => type === 'string');

/** Readline splits words at "=", so that --name=value is three of them. */
function bash(commands: readonly Command[]): string {
  const call = (completion: Completion | undefined, list = false): string => {
    if (completion === undefined) return ':';
    if (completion === 'files') return 'compopt -o default';
    if (completion === 'folders') return 'compopt -o dirnames';
    return `${list ? '_cacheline_list' : '_cacheline_words'} '${completion.join(' ')}'`;
  };
  const cases = commands.map((command) =>
    [
      `    ${command.name})`,
      `      case $option in`,
      ...takingValues(command).map(
        ([name, option]) => `        ${spellings(name, option).join('|')}) ${call(option.values, option.list)}; return ;;`,
      ),
      `      esac`,
      ...(command.program === undefined
        ? []
        : [
            `      takers=' ${takingValues(command)
              .flatMap(([name, option]) => spellings(name, option))
              .join(' ')} '`,
            `      if _cacheline_program ${command.program}; then return; fi`,
          ]),
      `      case $current in`,
      `        -*) _cacheline_words '${options(command)
        .flatMap(([name, option]) => spellings(name, option))
        .join(' ')}' ;;`,
      `        *) ${command.program === 'operand' ? '_cacheline_command' : call(command.operands)} ;;`,
      `      esac ;;`,
    ].join('\n'),
  );
  return `${SETUP('bash')}

_cacheline_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# Words with commas between: what stands before the last comma stays.
_cacheline_list() {
  mapfile -t COMPREPLY < <(compgen -P "\${current%"\${current##*,}"}" -W "$1" -- "\${current##*,}")
}

_cacheline_command() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen -A command -A file -- "$current")
}

# Completes the program behind --, or from the first operand on; fails where the current word is still ours.
_cacheline_program() {
  local i word skip=0 start=0
  for ((i = 2; i < COMP_CWORD; ++i)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      start=$((i + 1))
      break
    elif [[ $word == = ]]; then
      skip=1
    elif ((skip)); then
      skip=0
    elif [[ $takers == *" $word "* ]]; then
      skip=1
    elif [[ $word != -* && $1 == operand ]]; then
      start=$i
      break
    fi
  done
  if ((start == 0)); then return 1; fi
  if ((start == COMP_CWORD)); then _cacheline_command; else compopt -o default; fi
}

_cacheline() {
  local current=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD - 1]} takers=''
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=''
  elif [[ $option == = ]]; then
    option=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    _cacheline_words '${[...commands.map(({ name }) => name), 'help', '--version'].join(' ')}'
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    help) _cacheline_words '${commands.map(({ name }) => name).join(' ')}' ;;
  esac
}

complete -F _cacheline cacheline
`;
}

function zsh(commands: readonly Command[]): string {
  const text = (words: string): string => quoted(words, "'\\''");
  // _arguments ends a description at a bracket and a part of a specification at a colon.
  const described = (help: string): string => help.replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', '\\:');
  const action = (name: string, { values, list = false }: Option): string => {
    if (values === undefined) return ' ';
    if (values === 'files') return '_files';
    if (values === 'folders') return '_files -/';
    return list ? `_values -s , ${name} ${values.join(' ')}` : `(${values.join(' ')})`;
  };
  const specifications = (name: string, option: Option & { help: string }): string[] => {
    const spelled = spellings(name, option);
    return spelled.map((spelling) => {
      const before = option.multiple === true ? '*' : spelled.length > 1 ? `(${spelled.join(' ')})` : '';
      const takes = option.type === 'boolean' ? '' : spelling.startsWith('--') ? '=' : '+';
      const value = option.type === 'boolean' ? '' : `:${described(option.value ?? name)}:${action(name, option)}`;
      return text(`${before}${spelling}${takes}[${described(option.help)}]${value}`);
    });
  };
  const operands = ({ program, operands: completion, name }: Command): string[] => {
    if (program === 'operand') return ["'(-)1:program: _command_names -e'", "'*::arguments: _normal'"];
    return completion === undefined || completion.length === 0
      ? []
      : [text(`*:operand:${action(name, { type: 'string', values: completion })}`)];
  };
  const cases = commands.map((command) =>
    [
      `    ${command.name})`,
      ...(command.program === 'separator' ? ['      if _cacheline_program; then return; fi'] : []),
      `      _arguments -s -S ${[...options(command).flatMap(([name, option]) => specifications(name, option)), ...operands(command)]
        .map((specification) => `\\\n        ${specification}`)
        .join(' ')} ;;`,
    ].join('\n'),
  );
  return `#compdef cacheline
${SETUP('zsh')}

# Completes the program behind --; fails where the current word is still ours.
_cacheline_program() {
  local at=\${words[(i)--]}
  if (( at >= CURRENT )); then return 1; fi
  shift $at words
  (( CURRENT -= at ))
  _normal
}

_cacheline() {
  local -a names=(
${commands.map(({ name, brief }) => `    ${text(`${name}:${brief}`)}`).join('\n')}
    'help:show the options of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command names
    return
  fi
  shift words
  (( --CURRENT ))
  case $words[1] in
${cases.join('\n')}
    help) _describe command names ;;
  esac
}

if [[ $funcstack[1] == _cacheline ]]; then _cacheline "$@"; else compdef _cacheline cacheline; fi
`;
}

function fish(commands: readonly Command[]): string {
  const text = (words: string): string => quoted(words.replaceAll('\\', '\\\\'), "\\'");
  const values = ({ values: completion, list = false }: Option): string => {
    if (completion === undefined) return '-x';
    if (completion === 'files') return '-r -F';
    if (completion === 'folders') return "-x -a '(__fish_complete_directories)'";
    const words = completion.join(' ');
    return `-x -a ${list ? text(`(__fish_complete_list , 'string split " " "${words}"')`) : text(words)}`;
  };
  const lines = commands.flatMap((command) => {
    const line = (rest: string): string => `complete -c cacheline -n '__cacheline_at ${command.name}' ${rest}`;
    return [
      ...options(command).map(([name, option]) =>
        line(
          [
            ...(option.short === undefined ? [] : [`-s ${option.short}`]),
            `-l ${name}`,
            ...(option.type === 'boolean' ? [] : [values(option)]),
            `-d ${text(option.help)}`,
          ].join(' '),
        ),
      ),
      ...(command.operands === 'files' ? [line('-F')] : []),
      ...(Array.isArray(command.operands) && command.operands.length > 0 ? [line(`-a ${text(command.operands.join(' '))}`)] : []),
      ...(command.program === 'operand' ? [line(`-a '(__fish_complete_command)'`)] : []),
    ];
  });
  return `${SETUP('fish')}

# Whether our own words of this command are completed: there is no -- before.
function __cacheline_at
    set -l words (commandline -opc)
    test (count $words) -ge 2
    and test $words[2] = $argv[1]
    and not contains -- -- $words
end

# Completes the program behind --.
function __cacheline_program
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    and complete -C (string join ' ' -- $words[(math $at + 1)..-1])
end

complete -c cacheline -f
${commands.map(({ name, brief }) => `complete -c cacheline -n __fish_use_subcommand -a ${name} -d ${text(brief)}`).join('\n')}
complete -c cacheline -n __fish_use_subcommand -a help -d 'show the options of a command'
complete -c cacheline -n '__cacheline_at help' -a '${commands.map(({ name }) => name).join(' ')}'
complete -c cacheline -n 'contains -- -- (commandline -opc)' -x -a '(__cacheline_program)'
${lines.join('\n')}
`;
}
