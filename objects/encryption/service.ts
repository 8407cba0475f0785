import { randomBytes } from 'node:crypto';
import {
  badParameter,
  deriveKey,
  fail,
  GranaryError,
  Locks,
  SignInAttempts,
  unwrapKey,
  verifyKey,
  wrapKey,
  type Clock,
  type EventLog,
  type Store,
  type Tx,
  type Vault,
  type Verifier,
} from '@granary/kernel';
import type { EncryptionState, ObjectEngine } from '../engine/engine.ts';
import { partOf } from '../engine/parts.ts';
import {
  findEncryption,
  findServiceKey,
  insertKey,
  insertServiceKey,
  listKeys,
  saveVerifier,
  setActive,
  updateKey,
} from './repository.ts';

/** Who asks, and from where: those who guess are slowed and then kept out. */
export interface Asker {
  readonly actor: string;
  readonly ip: string;
}

interface EncryptionOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly engine: ObjectEngine;
}

export type EncryptionMode = 'none' | 'off' | 'on' | 'locked';

const KEY_BYTES = 32;
const SUBJECT = 'encryption';

/**
 * The password that wraps the keys of objects, while it is known. It is never kept: after a restart encrypted objects
 * are locked until an administrator gives it again. Wrapped keys are sealed by the vault too, so that destroying the
 * vault's key destroys them, whatever the password.
 */
export class EncryptionService {
  readonly #options: EncryptionOptions;
  readonly #attempts: SignInAttempts;
  readonly #turns = new Locks();
  readonly #listeners: ((state: EncryptionState) => Promise<void>)[] = [];
  #wrapping: Buffer | undefined;

  constructor(options: EncryptionOptions) {
    this.#options = options;
    this.#attempts = new SignInAttempts({ clock: options.clock });
  }

  /** Called before a change is answered, so that the next object is written by the new rule. */
  onChange(listener: (state: EncryptionState) => Promise<void>): void {
    this.#listeners.push(listener);
  }

  /**
   * Makes the key for what asks for encryption (S3's AES256), at the first start and before anything can ask. No password
   * wraps it, so it needs no operator after a restart; it is sealed by the vault, and in every copy of the database.
   */
  async create(): Promise<void> {
    const { store, vault, engine, clock } = this.#options;
    if (engine.encryption === undefined || store.read(findServiceKey) !== undefined) return;
    const sealed = vault.seal(randomBytes(KEY_BYTES).toString('base64'));
    await store.write((tx) => insertServiceKey(tx, sealed, clock.now()));
  }

  /** For the engine. Locked: no keys, and a write key that is not among them, so that nothing is written in the clear. */
  state(): EncryptionState {
    const { store, vault } = this.#options;
    const found = store.read(findServiceKey);
    const key = found && { number: found.number, key: Buffer.from(vault.unseal(found.wrapped), 'base64') };
    const service = key ? { serviceKey: key.number, keys: [key] } : { keys: [] };
    const row = store.read(findEncryption);
    if (!row) return { writeKey: 0, ...service };
    const rows = store.read(listKeys);
    const writeKey = row.is_active === 1 ? (rows.at(-1)?.number ?? 0) : 0;
    const wrapping = this.#wrapping;
    if (!wrapping) return { writeKey, ...service };
    const opened = rows.map(({ number, wrapped }) => ({ number, key: unwrapKey(wrapping, vault.unseal(wrapped)) }));
    return { writeKey, ...service, keys: [...service.keys, ...opened] };
  }

  get isLocked(): boolean {
    return this.#wrapping === undefined && this.#options.store.read(findEncryption) !== undefined;
  }

  /** `none` before there is a password; `off` and `on` say whether what is written is encrypted. */
  get mode(): EncryptionMode {
    const row = this.#options.store.read(findEncryption);
    if (!row) return 'none';
    if (this.isLocked) return 'locked';
    return row.is_active === 1 ? 'on' : 'off';
  }

  /** The first password, or another one in its place while the array is unlocked. */
  async setPassword(password: string, { actor }: Asker): Promise<void> {
    partOf(this.#options.engine, 'encryption');
    await this.#turns.run(SUBJECT, async () => {
      const isFirst = this.#options.store.read(findEncryption) === undefined;
      const old = isFirst ? undefined : this.#unlocked();
      const { wrapping, verifier } = await deriveKey(password);
      await this.#options.store.write((tx) => {
        if (old) this.#rewrap(tx, old, wrapping);
        else insertKey(tx, this.#wrap(wrapping, randomBytes(KEY_BYTES)), this.#options.clock.now());
        saveVerifier(tx, this.#options.vault.seal(JSON.stringify(verifier)));
        this.#record(tx, `The encryption password was ${isFirst ? 'set' : 'changed'}.`, actor);
      });
      this.#wrapping = wrapping;
      await this.#publish();
    });
  }

  async activate({ actor }: Asker): Promise<void> {
    await this.#switch(true, 'What is written from now on is encrypted.', actor);
  }

  async disable({ actor }: Asker): Promise<void> {
    await this.#switch(false, 'What is written from now on is not encrypted; what was stays so.', actor);
  }

  async restore(password: string, asker: Asker): Promise<void> {
    const { store, vault } = this.#options;
    const row = store.read(findEncryption);
    if (!row) throw noPassword();
    const verifier = JSON.parse(vault.unseal(row.verifier)) as Verifier;
    const wrapping = await this.#check(password, verifier, asker);
    await this.#turns.run(SUBJECT, async () => {
      // Another one may have taken its place since; what it would unwrap is no key any more.
      if (store.read(findEncryption)?.verifier !== row.verifier) throw wrongPassword();
      this.#wrapping = wrapping;
      await store.write((tx) => this.#record(tx, 'The encryption password was restored.', asker.actor));
      await this.#publish();
    });
  }

  async #switch(active: boolean, title: string, actor: string): Promise<void> {
    await this.#turns.run(SUBJECT, async () => {
      this.#unlocked();
      await this.#options.store.write((tx) => {
        setActive(tx, active);
        this.#record(tx, title, actor);
      });
      await this.#publish();
    });
  }

  #unlocked(): Buffer {
    if (this.#options.store.read(findEncryption) === undefined) throw noPassword();
    if (!this.#wrapping) throw fail('encryption_locked');
    return this.#wrapping;
  }

  async #check(password: string, verifier: Verifier, { actor, ip }: Asker): Promise<Buffer> {
    try {
      return await this.#attempts.guard({ username: `encryption/${actor}`, ip }, () => verifyKey(password, verifier));
    } catch (error) {
      if (!(error instanceof GranaryError) || error.entry !== 'invalid_credentials') throw error;
      throw wrongPassword();
    }
  }

  #rewrap(tx: Tx, old: Buffer, wrapping: Buffer): void {
    for (const { number, wrapped } of listKeys(tx)) {
      const key = unwrapKey(old, this.#options.vault.unseal(wrapped));
      updateKey(tx, { number, wrapped: this.#wrap(wrapping, key) });
    }
  }

  #wrap(wrapping: Buffer, key: Uint8Array): string {
    return this.#options.vault.seal(wrapKey(wrapping, key));
  }

  #record(tx: Tx, title: string, actor: string): void {
    this.#options.events.record(tx, { severity: 'notice', title, subject: SUBJECT, actor });
  }

  async #publish(): Promise<void> {
    const state = this.state();
    for (const listener of this.#listeners) await listener(state);
  }
}

function wrongPassword(): GranaryError {
  return badParameter('encryption_pwd', 'is not the encryption password');
}

function noPassword(): GranaryError {
  return fail('objs_no_encryption_password');
}
