import { ApiError } from '@granary/client';
import type { GranaryCommand } from '../command.ts';
import { readCredentials } from '../credentials.ts';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { addPasswordAdvice } from '../password.ts';
import { askSecretly, isInteractive, readSecret, print, type Terminal } from '../terminal.ts';
import { ensureTrusted, fetchFor } from '../trust.ts';
import { keepArrayKey } from './keys.ts';
import { placeByName, placeOf, type ArrayPlace } from './place.ts';
import { productWords, SYSTEM_ACCOUNT, type Product } from './product.ts';

interface LoginOptions {
  readonly url?: string;
  readonly account?: string;
  readonly user?: string;
  readonly passwordStdin?: true;
  readonly trust?: string;
}

interface Door extends ArrayPlace {
  readonly product: Product;
  readonly account: string;
  readonly username: string;
  readonly fetch?: typeof fetch;
}

export function addArrayLogin(parent: GranaryCommand, product: Product, terminal: Terminal): void {
  const command = parent
    .command('login [name]')
    .description('Sign in to an array of yours and keep its key; it is then meant where no --array is given')
    .option('--url <url>', 'Address of the array, where no portal is asked')
    .option('--user <name>', 'Who you are there (default: who you are at the portal)')
    .option('--password-stdin', 'Read the password from standard input (also GRANARY_PASSWORD)')
    .option('--trust <sha256>', 'Trust the certificate authority with this fingerprint without asking');
  if (product === 'object_storage')
    command.option('--account <name>', `Your account there (default: ${SYSTEM_ACCOUNT})`);
  addPasswordAdvice(command);
  command.action(async (name: string | undefined, options: LoginOptions) => login(product, name, options, terminal));
}

/** Signs in to an array. Its owner needs no password the first time: the portal shows the passcode to them. */
async function login(
  product: Product,
  name: string | undefined,
  options: LoginOptions,
  terminal: Terminal,
): Promise<void> {
  const { env } = terminal;
  const place = name === undefined ? await placeOf(product, env, options) : await placeByName(product, env, name);
  await ensureTrusted(terminal, { url: place.url, fingerprint: options.trust, fingerprintFrom: place.fingerprintFrom });
  const username = options.user ?? readCredentials(env)?.username ?? 'admin';
  const door = { ...place, ...fetchFor(env, place.url), product, username, account: options.account ?? SYSTEM_ACCOUNT };
  const key = await signIn(door, options, terminal);
  const file = keepArrayKey(env, { product, url: place.url, name: place.name, username, key });
  const who = product === 'object_storage' ? `${username} of ${door.account}` : username;
  print(terminal, `Signed in to ${place.name} at ${place.url} as ${who}; the key is kept in ${file}.`);
}

async function signIn(door: Door, { passwordStdin }: LoginOptions, terminal: Terminal): Promise<string> {
  if (passwordStdin) return keyOf(door, await readSecret(terminal, questionFor(door)));
  const given = terminal.env['GRANARY_PASSWORD'] ?? (door.account === SYSTEM_ACCOUNT ? door.passcode : undefined);
  if (given !== undefined) {
    try {
      return await keyOf(door, given);
    } catch (error) {
      // It may have been changed since; the person at the terminal can type the present one.
      if (!isInteractive(terminal)) throw error;
    }
  }
  if (isInteractive(terminal)) return keyOf(door, await askSecretly(terminal, questionFor(door)));
  throw usageFailure('The password is missing: pipe it in with --password-stdin, or set GRANARY_PASSWORD.');
}

function questionFor({ username, name }: Door): string {
  return `Password of ${username} at ${name}: `;
}

async function keyOf(door: Door, password: string): Promise<string> {
  const { product, name, account, username: user } = door;
  const place = { url: door.url, ...(door.fetch && { fetch: door.fetch }) };
  try {
    const key = await productWords[product].signIn({ ...place, account, user, password });
    if (key !== null) return key;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandFailure(exitCodes.notAllowed, `${name} does not let ${user} in: ${error.message}`, {
      cause: error,
    });
  }
  throw new CommandFailure(exitCodes.notAllowed, `${user} has no key at ${name}.`);
}
