import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readSetting, writeSetting } from './settings.ts';
import type { Store } from './store.ts';

/** The location of a database: distinguishes the original of a data folder from a copy. */
export interface Home {
  /** Random; a copy gets another one when it is put in charge. */
  readonly id: string;
  /** The machine's own id where it has one, else empty. */
  readonly machine: string;
  readonly folder: string;
}

export interface FoundHome {
  readonly home: Home;
  /** The location of the original, when this is a copy that was never put in charge. */
  readonly copyOf: Home | undefined;
}

const SETTING = 'home';
const MACHINE_ID = '/etc/machine-id';

/**
 * Compares the location of a database with its record. A folder that was moved on its machine keeps its home: the old
 * location is empty then. On another machine, or beside the original, it is a copy.
 */
export async function findHome(store: Store, machine = machineId()): Promise<FoundHome> {
  const folder = realpathSync(dirname(store.file));
  const text = store.read((db) => readSetting(db, SETTING));
  const known = text === undefined ? undefined : (JSON.parse(text) as Home);
  const here = { id: known?.id ?? randomUUID(), machine, folder };
  if (known && known.machine === machine && known.folder === folder) return { home: known, copyOf: undefined };
  if (known && isCopy(known, here, store.file)) return { home: here, copyOf: known };
  await writeHome(store, here);
  return { home: here, copyOf: undefined };
}

/** Makes this copy an original, under an id of its own. */
export async function recordHome(store: Store, machine = machineId()): Promise<Home> {
  const home = { id: randomUUID(), machine, folder: realpathSync(dirname(store.file)) };
  await writeHome(store, home);
  return home;
}

export function describeHome({ folder, machine }: Home, here = machineId()): string {
  return machine === here ? folder : `${folder} on another machine`;
}

function writeHome(store: Store, home: Home): Promise<void> {
  return store.write((tx) => writeSetting(tx, SETTING, JSON.stringify(home)));
}

function isCopy(known: Home, here: Home, file: string): boolean {
  if (known.machine !== here.machine) return known.machine !== '' && here.machine !== '';
  const original = join(known.folder, basename(file));
  if (!existsSync(original)) return false;
  const [a, b] = [statSync(original), statSync(file)];
  // One folder under two paths, by a bind mount or a link.
  return a.dev !== b.dev || a.ino !== b.ino;
}

function machineId(): string {
  return existsSync(MACHINE_ID) ? readFileSync(MACHINE_ID, 'utf8').trim() : '';
}
