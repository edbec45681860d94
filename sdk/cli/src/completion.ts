import type { Command } from 'commander';
import { Problem } from './problem.js';

/** Returns the script that completes the commands and their options in a shell. */
export function completionScript(program: Command, shell: string): string {
  const commands = program.commands.map((each) => each.name());
  const cases = program.commands.map((each) => [each.name(), each.options.map(({ long }) => long ?? '')] as const);
  if (shell === 'bash')
    return [
      '_gcs() {',
      '  local words',
      '  case "${COMP_WORDS[1]}" in',
      ...cases.map(([name, options]) => `    ${name}) words="${options.join(' ')}" ;;`),
      '  esac',
      `  [ "$COMP_CWORD" -eq 1 ] && words="${commands.join(' ')}"`,
      '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
      '}',
      'complete -F _gcs gcs',
    ].join('\n');
  if (shell === 'zsh')
    return ['autoload -U +X bashcompinit && bashcompinit', completionScript(program, 'bash')].join('\n');
  if (shell === 'fish')
    return [
      `complete -c gcs -f -n __fish_use_subcommand -a "${commands.join(' ')}"`,
      ...cases.flatMap(([name, options]) =>
        options.map((option) => `complete -c gcs -n "__fish_seen_subcommand_from ${name}" -l ${option.slice(2)}`),
      ),
    ].join('\n');
  throw new Problem(`${shell}: must be bash, zsh or fish`);
}
