import { ApiError, arrayClient } from '@granary/client';
import { readCredentials } from '../credentials.ts';
import { CommandFailure, exitCodes, usageFailure } from '../exit.ts';
import { askSecretly, isInteractive, readStdin, say, type Terminal } from '../terminal.ts';
import { keepArrayKey } from './keys.ts';
import { placeByName, placeOf, type ArrayPlace } from './place.ts';

export interface ArrayLoginOptions {
  readonly url?: string;
  readonly user?: string;
  readonly passwordStdin?: true;
}

/** Signs in to an array. Its owner needs no password the first time: the portal shows the passcode to them. */
export async function loginToArray(
  name: string | undefined,
  options: ArrayLoginOptions,
  terminal: Terminal,
): Promise<void> {
  const { env } = terminal;
  const place = name === undefined ? await placeOf(env, options) : await placeByName(env, name);
  const username = options.user ?? readCredentials(env)?.username ?? 'admin';
  const key = await signIn(place, username, options, terminal);
  const file = keepArrayKey(env, { url: place.url, name: place.name, username, key });
  say(terminal, `Signed in to ${place.name} at ${place.url} as ${username}; the key is kept in ${file}.`);
}

async function signIn(
  place: ArrayPlace,
  username: string,
  { passwordStdin }: ArrayLoginOptions,
  terminal: Terminal,
): Promise<string> {
  if (passwordStdin) return keyOf(place, username, await readStdin(terminal));
  const given = terminal.env['GRANARY_PASSWORD'] ?? place.passcode;
  if (given !== undefined) {
    try {
      return await keyOf(place, username, given);
    } catch (error) {
      // It may have been changed since; whoever is there can say what it is now.
      if (!isInteractive(terminal)) throw error;
    }
  }
  if (isInteractive(terminal))
    return keyOf(place, username, await askSecretly(terminal, `Password of ${username} at ${place.name}: `));
  throw usageFailure('The password is missing: pipe it in with --password-stdin, or set GRANARY_PASSWORD.');
}

async function keyOf({ url, name }: ArrayPlace, user: string, password: string): Promise<string> {
  try {
    return (await arrayClient({ url }).users.login({ user, password })).user.access_key;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new CommandFailure(exitCodes.notAllowed, `${name} does not let ${user} in: ${error.message}`, {
      cause: error,
    });
  }
}
