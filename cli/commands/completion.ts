import { Argument } from 'commander';
import type { GranaryCommand } from '../command.ts';
import { candidatesAt, cursorOf } from '../completion/candidates.ts';
import { completionScripts, type Shell } from '../completion/scripts.ts';
import { print, type Terminal } from '../terminal.ts';

export function addCompletion(program: GranaryCommand, terminal: Terminal): void {
  const command = program.command('completion');
  command.description('Print what makes a shell complete commands, options and the names of your things');
  command.addArgument(new Argument('<shell>', 'The shell').choices(Object.keys(completionScripts)));
  command.addHelpText(
    'after',
    '\nFor this shell alone: source <(granary completion bash)\nFor every one: granary completion bash > ~/.local/share/bash-completion/completions/granary',
  );
  command.action((shell: Shell) => print(terminal, completionScripts[shell].trimEnd()));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      for (const candidate of await candidatesOrNone(program, words)) print(terminal, candidate);
    });
}

/** A shell that completes shows no errors: where nothing is known, nothing is offered. */
async function candidatesOrNone(program: GranaryCommand, words: readonly string[]): Promise<readonly string[]> {
  try {
    return await candidatesAt(cursorOf(program, words));
  } catch {
    return [];
  }
}
