import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Connection } from '@granary/client';
import { CommandFailure, exitCodes, usageFailure } from './exit.ts';
import type { Terminal } from './terminal.ts';
import { configFile, fetchFor } from './trust.ts';

const URL_DEFAULT = 'http://127.0.0.1:7400';

/** What `granary login` keeps. */
export interface Credentials {
  readonly url: string;
  readonly token: string;
  readonly username: string;
}

type Environment = Terminal['env'];

export function credentialsFile(env: Environment): string {
  return configFile(env, 'credentials.json');
}

export function readCredentials(env: Environment): Credentials | undefined {
  const file = credentialsFile(env);
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Partial<Credentials>;
    if (typeof kept.url === 'string' && typeof kept.token === 'string')
      return { url: kept.url, token: kept.token, username: kept.username ?? '' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  throw new CommandFailure(exitCodes.notAllowed, `${file} cannot be read; sign in again with \`granary login\`.`);
}

/** Written beside and moved into place: never half there, never readable by others. */
export function writeCredentials(env: Environment, credentials: Credentials): string {
  const file = credentialsFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
  return file;
}

export function removeCredentials(env: Environment): void {
  rmSync(credentialsFile(env), { force: true });
}

/** `host:port` is enough; a trailing `/` or `/api` is not needed and does no harm. */
export function readUrl(text: string): string {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const whole = hasScheme ? text : `http://${text}`;
  // A lone word is more likely a slip than a host that serves on port 80.
  const isLoneWord = !hasScheme && text !== 'localhost' && !/[.:]/.test(text);
  if (isLoneWord || !URL.canParse(whole))
    throw usageFailure(`${text} is not an address; write it as http://host:port.`);
  const { protocol, host, pathname } = new URL(whole);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw usageFailure(`${text} is not an address of HTTP; write it as http://host:port.`);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '').replace(/\/api$/, '')}`;
}

/** Where the portal is: what the command says, else the environment, else where one signed in last. */
export function portalUrl(env: Environment, option: string | undefined): string {
  const named = option ?? env['GRANARY_URL'];
  return named ? readUrl(named) : (readCredentials(env)?.url ?? URL_DEFAULT);
}

/** A kept token is sent to the portal that gave it, and to no other. */
export function portalConnection(
  env: Environment,
  { url: option, signedIn }: { readonly url?: string | undefined; readonly signedIn: boolean },
): Connection {
  const url = portalUrl(env, option);
  const place = { url, ...fetchFor(env, url) };
  if (!signedIn) return place;
  const kept = env['GRANARY_TOKEN'] ? undefined : readCredentials(env);
  const token = env['GRANARY_TOKEN'] || (kept?.url === url ? kept.token : undefined);
  if (token === undefined)
    throw new CommandFailure(
      exitCodes.notAllowed,
      `You are not signed in at ${url}; run \`granary login --url ${url}\` or set GRANARY_TOKEN.`,
    );
  return { ...place, headers: { 'x-token': token } };
}
