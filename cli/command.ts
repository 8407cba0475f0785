import { Command, type ErrorOptions, type ParseOptionsResult } from 'commander';
import { usageFailure, type CommandFailure } from './exit.ts';
import { mistakeOf } from './mistakes.ts';

const YES = /^(true|yes|on)$/i;
const NO = /^(false|no|off)$/i;

/** A command whose switches also take their value in words: `--enabled`, `--no-enabled`, `--enabled=false`. */
export class GranaryCommand extends Command {
  /** What stood behind a switch and is not its value: perhaps it was meant to be. */
  readonly #behindSwitches = new Map<string, string>();

  override createCommand(name?: string): GranaryCommand {
    return new GranaryCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const before = this.#behindSwitches.get(this.args[this.registeredArguments.length] ?? '');
    if (options?.code === 'commander.excessArguments' && before !== undefined) throw notAValue(before);
    throw mistakeOf(this, options?.code, message) ?? super.error(message, options);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    return super.parseOptions(this.#plainSwitches(argv));
  }

  #plainSwitches(argv: readonly string[]): string[] {
    const plain: string[] = [];
    const tokens = [...argv];
    for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
      if (token === '--') return [...plain, token, ...tokens];
      const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(token) ?? [];
      if (!this.#isSwitch(name)) plain.push(token);
      else if (value !== undefined) plain.push(switchOf(name, value));
      else if (isWord(tokens[0])) plain.push(switchOf(name, tokens.shift() as string));
      else {
        plain.push(token);
        if (tokens[0] !== undefined) this.#behindSwitches.set(tokens[0], name);
      }
    }
    return plain;
  }

  #isSwitch(name: string): boolean {
    return this.options.some(({ long }) => long === `--no-${name}`);
  }
}

function isWord(token: string | undefined): boolean {
  return token !== undefined && (YES.test(token) || NO.test(token));
}

function switchOf(name: string, value: string): string {
  if (YES.test(value) || value === '1') return `--${name}`;
  if (NO.test(value) || value === '0') return `--no-${name}`;
  throw notAValue(name);
}

function notAValue(name: string): CommandFailure {
  return usageFailure('The command is not complete or not right:', [`--${name} must be true or false`]);
}
