import { say, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';

/** What a service says while it starts: short, and the address last. */

export function greet(terminal: Terminal, folder: string): void {
  say(terminal, `Granary ${version} starts; its data is in ${folder}`);
}

export function tellReady(terminal: Terminal, url: string, facts: readonly (readonly [string, string])[]): void {
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, fact] of facts) say(terminal, `  ${name.padEnd(width)}  ${fact}`);
  say(terminal, `Granary is ready: ${url}`);
}

interface FirstPassword {
  readonly adminPassword: string | undefined;
  readonly adminPasswordFile: string | undefined;
}

/** A password that was made up is shown once; later starts say where it was put. */
export function passwordWords({ adminPassword, adminPasswordFile }: FirstPassword): string {
  if (adminPassword !== undefined) return `${adminPassword} (shown this once; kept in ${adminPasswordFile})`;
  if (adminPasswordFile !== undefined) return `in ${adminPasswordFile}`;
  return 'from GRANARY_ADMIN_PASSWORD at the first start';
}
