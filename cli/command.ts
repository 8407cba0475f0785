import { Command, type ParseOptionsResult } from 'commander';
import { usageFailure } from './exit.ts';

const YES = /^(true|yes|on)$/i;
const NO = /^(false|no|off)$/i;

/** A command whose switches also take their value in words: `--enabled`, `--no-enabled`, `--enabled=false`. */
export class GranaryCommand extends Command {
  override createCommand(name?: string): GranaryCommand {
    return new GranaryCommand(name);
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
      else plain.push(token);
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
  throw usageFailure('The command is not complete or not right:', [`--${name} must be true or false`]);
}
