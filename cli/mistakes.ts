import type { Command, ErrorOptions } from 'commander';
import { usageFailure, type CommandFailure } from './exit.ts';

/** A mistake in what was typed, with what to type instead; undefined where commander's own words say enough. */
export function mistakeOf(command: Command, code: ErrorOptions['code'], message: string): CommandFailure | undefined {
  if (code === 'commander.missingArgument') return missingArgument(command);
  if (code === 'commander.excessArguments') return excessArguments(command);
  if (code === 'commander.unknownCommand') return unknownCommand(command, message);
  if (code === 'commander.unknownOption') return optionTooEarly(command, message);
  return undefined;
}

function missingArgument(command: Command): CommandFailure {
  const missing = command.registeredArguments.slice(command.args.length).filter(({ required }) => required);
  const details = missing.map((argument) => {
    const about = argument.description === '' ? '' : `: ${argument.description}`;
    return `<${argument.name()}> is required${about}`;
  });
  return usageFailure('The command is not complete:', [...details, usageOf(command)]);
}

function excessArguments(command: Command): CommandFailure {
  const excess = command.args.slice(command.registeredArguments.length);
  return usageFailure(`${excess.join(' ')} is more than the command takes:`, [usageOf(command)]);
}

function usageOf(command: Command): string {
  return `Usage: ${pathOf(command)} ${command.usage()}`;
}

function unknownCommand(command: Command, message: string): CommandFailure | undefined {
  const name = command.args[0] ?? '';
  const below = command.commands.flatMap(({ commands }) => commands).filter((each) => each.name() === name);
  if (below.length > 0) {
    const found = below.map((each) => `\`${pathOf(each)}\``).join(' or ');
    return usageFailure(`There is no command ${name}; it may be ${found}.`);
  }
  if (command.parent === null || message.includes('Did you mean')) return undefined;
  const names = command.commands.map((each) => each.name()).join(', ');
  return usageFailure(`\`${pathOf(command)}\` has no command ${name}. It has ${names}.`);
}

/** `granary array --array tank volumes list`: options belong to the last word of a command. */
function optionTooEarly(command: Command, message: string): CommandFailure | undefined {
  const flag = /'(--[^'=]+)/.exec(message)?.[1];
  const child = command.commands.find((each) => takes(each, flag));
  if (flag === undefined || child === undefined) return undefined;
  return usageFailure(`${flag} stands behind the command: \`${pathOf(command)} … ${flag} …\`.`);
}

function takes(command: Command, flag: string | undefined): boolean {
  return command.options.some(({ long }) => long === flag) || command.commands.some((each) => takes(each, flag));
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
