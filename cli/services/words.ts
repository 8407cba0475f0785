import { isLoopback } from '@granary/kernel/tls';
import { print, printToStderr, type Terminal } from '../terminal.ts';
import { version } from '../version.ts';
import { PORTAL_PORT_DEFAULT } from './options.ts';

/** What a service says while it starts: short, and the address last. */

export function greet(terminal: Terminal, folder: string): void {
  print(terminal, `Granary ${version} starts; its data is in ${folder}`);
}

/** Passwords and keys that cross a network in the clear are for anyone in between. */
export function warnIfOpen(
  terminal: Terminal,
  host: string,
  isEncrypted: boolean,
  advice = 'Leave out --insecure-http.',
): void {
  if (!isEncrypted && !isLoopback(host))
    printToStderr(
      terminal,
      `Warning: ${host} is served without encryption; others on the network can read the traffic. ${advice}`,
    );
}

/** Said when a password is given that only a first start takes. */
export function printIgnoredPassword(terminal: Terminal): void {
  const how = 'change a password with `granary user update 1 --password -`';
  printToStderr(terminal, `GRANARY_ADMIN_PASSWORD is ignored: there are users already; ${how}.`);
}

/** Said where the portal is not where one would look for it. */
export function printIfMoved(terminal: Terminal, url: string): void {
  const { port } = new URL(url);
  if (port === PORTAL_PORT_DEFAULT) return;
  printToStderr(
    terminal,
    `Port ${PORTAL_PORT_DEFAULT} is taken; the portal listens on ${port}. Sign in with --url ${url}.`,
  );
}

/** How many arrays serve when the service is ready, and how many come up in turn from then on. */
export interface ArrayCounts {
  readonly up: number;
  readonly starting: number;
  readonly failed: number;
}

export function printReady(
  terminal: Terminal,
  url: string,
  facts: readonly (readonly [string, string])[],
  arrays?: ArrayCounts,
): void {
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, fact] of facts) print(terminal, `  ${name.padEnd(width)}  ${fact}`);
  print(terminal, `Granary is ready: ${url}${arrays ? ` (${countWords(arrays)})` : ''}`);
}

export function printReadyWithoutPortal(terminal: Terminal, cloudUrl: string, arrays: ArrayCounts): void {
  print(terminal, `Granary is ready, without its portal; arrays serve: ${cloudUrl} (${countWords(arrays)})`);
}

function countWords({ up, starting, failed }: ArrayCounts): string {
  const words = `${up} ${up === 1 ? 'array' : 'arrays'} up, ${starting} starting`;
  return failed === 0 ? words : `${words}, ${failed} failed`;
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
