import { existsSync } from 'node:fs';
import { readSetting, writeSetting, type Store } from '../store/index.ts';
import { KeyError, masterKeyGiven, Vault } from './vault.ts';

interface VaultPlace {
  readonly store: Store;
  readonly keyFile: string;
  /**
   * A value of the database that was sealed before the database had a check value of its key; undefined when there is
   * none.
   */
  readonly sealedSample: () => string | undefined;
}

const CHECK = 'key_check';
const CHECKED_TEXT = 'the key of this database';

/**
 * The vault of a database. Each database has a check value of its key, which does not reveal the key: a key that does
 * not match is refused before anything is read or sealed with it, and a missing key is not created again.
 */
export async function openVault({ store, keyFile, sealedSample }: VaultPlace): Promise<Vault> {
  const sample = sealedSample();
  const isNeeded = checkOf(store) !== undefined || sample !== undefined;
  if (masterKeyGiven() === undefined && !existsSync(keyFile) && isNeeded)
    throw new KeyError(
      `${keyFile} is missing, but ${store.file} is sealed with it. ` +
        'Put the file back from a backup, or give its content in GRANARY_MASTER_KEY.',
    );
  const vault = Vault.open(keyFile);
  const source = masterKeyGiven() === undefined ? keyFile : 'GRANARY_MASTER_KEY';
  if (checkOf(store) === undefined && sample !== undefined && !opens(vault, sample)) throw doesNotFit(source, store);
  return checkedVault(vault, store, source);
}

/** Refuses a vault whose key is not that of the database; a database without a check value gets one. */
export async function checkedVault(vault: Vault, store: Store, source: string): Promise<Vault> {
  const check = vault.mark(CHECKED_TEXT);
  const kept = checkOf(store);
  if (kept !== undefined && kept !== check) throw doesNotFit(source, store);
  if (kept === undefined) await store.write((tx) => writeSetting(tx, CHECK, check));
  return vault;
}

function checkOf(store: Store): string | undefined {
  return store.read((db) => readSetting(db, CHECK));
}

function opens(vault: Vault, sealed: string): boolean {
  try {
    vault.unseal(sealed);
    return true;
  } catch {
    return false;
  }
}

function doesNotFit(source: string, { file }: Store): KeyError {
  return new KeyError(
    `The key in ${source} is not the one that ${file} is sealed with. ` +
      'Put the right key back from a backup; the database was not changed.',
  );
}
