import { portalClient, type PortalClient } from '@granary/client';
import { ApiError } from '@granary/client/errors';
import type { Connection } from '@granary/client';
import { portalConnection, readUrl } from '../credentials.ts';
import type { PlaceOptions } from '../derived/commands.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { fetchFor } from '../trust.ts';
import { readArrayKeys, type ArrayKey } from './keys.ts';
import { productWords, type Product } from './product.ts';

type Environment = Terminal['env'];

export interface ArrayPlace {
  readonly url: string;
  readonly name: string;
  /** What the portal shows its owner: the first password. */
  readonly passcode?: string;
  /** The portal that named the address. */
  readonly fingerprintFrom?: string;
}

/** Where the array is that a command means: by its address, by its name, or the one signed in to last. */
export async function placeOf(product: Product, env: Environment, { url, array }: PlaceOptions): Promise<ArrayPlace> {
  const { prefix, nameVariable, urlVariable } = productWords[product];
  const address = url ?? env[urlVariable];
  if (address) return { url: readUrl(address), name: address };
  const name = array ?? env[nameVariable];
  const keys = keysOf(product, env);
  const kept = name === undefined ? keys[0] : keys.find((each) => each.name === name);
  if (kept) return kept;
  if (name === undefined)
    throw new CommandFailure(
      exitCodes.notAllowed,
      `Which array? Sign in to one with \`granary ${prefix} login NAME\`.`,
    );
  return placeByName(product, env, name);
}

/** Asks the portal, which knows arrays by their name, and by their number where no array has it as its name. */
export async function placeByName(product: Product, env: Environment, name: string): Promise<ArrayPlace> {
  const { headers, ...there } = portalConnection(env, { signedIn: true });
  const { url } = there;
  const portal = portalClient({ ...there, token: headers?.['x-token'] ?? '' });
  const named = (await portal.arrays.list({ name })).data.find((each) => each.name === name);
  const found = named ?? (/^\d{1,15}$/.test(name) ? await arrayByNumber(portal, Number(name)) : undefined);
  if (!found) throw new CommandFailure(exitCodes.notFound, `The portal at ${url} shows you no array named ${name}.`);
  const { data } = await portal.arrays.get({ array_id: found.id });
  const other = isObjectStorage(data) ? 'object_storage' : 'storage_array';
  if (other !== product)
    throw new CommandFailure(
      exitCodes.failed,
      `${name} is of another kind; use \`granary ${productWords[other].prefix}\`.`,
    );
  if (data.management_url === null || data.status !== 'created')
    throw new CommandFailure(exitCodes.failed, `Array ${name} is ${data.status}; it answers once it is created.`);
  return { url: data.management_url, name: data.name, passcode: data.initial_passcode, fingerprintFrom: url };
}

/** A kept key is sent to the array that gave it, and to no other. */
export async function arrayConnection(
  product: Product,
  env: Environment,
  options: PlaceOptions & { readonly signedIn: boolean },
): Promise<Connection> {
  const { prefix, keyVariable } = productWords[product];
  const place = await placeOf(product, env, options);
  const there = { url: place.url, ...fetchFor(env, place.url) };
  if (!options.signedIn) return there;
  const key = env[keyVariable] || keyFor(keysOf(product, env), place.url);
  if (!key)
    throw new CommandFailure(
      exitCodes.notAllowed,
      `You are not signed in to ${place.name}; run \`granary ${prefix} login ${place.name}\` or set ${keyVariable}.`,
    );
  return { ...there, headers: { 'x-access-key': key } };
}

/** Only object storage has controllers that pass requests on. */
function isObjectStorage(data: { readonly proxy_virtual_controllers?: number | undefined }): boolean {
  return data.proxy_virtual_controllers !== undefined;
}

function keysOf(product: Product, env: Environment): ArrayKey[] {
  return readArrayKeys(env).filter((each) => each.product === product);
}

function keyFor(keys: readonly ArrayKey[], url: string): string | undefined {
  return keys.find((each) => each.url === url)?.key;
}

async function arrayByNumber(portal: PortalClient, id: number): Promise<{ readonly id: number } | undefined> {
  try {
    return (await portal.arrays.get({ array_id: id })).data;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
