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
  type Db,
  type Tx,
  type Verifier,
} from '@granary/kernel';
import { partOf } from '../engine/parts.ts';
import { isEngineError } from '../engine/errors.ts';
import type { ArrayTools } from '../tools.ts';
import { readSetting, writeSetting } from './repository.ts';

/** The wrapped keys of volumes, which import this (`array/relations.ts` implements it). */
export interface VolumeKeys {
  list(db: Db): { readonly name: string; readonly wrappedKey: string }[];
  replace(tx: Tx, volume: string, wrappedKey: string): void;
}

/** Who asks, and from where: those who guess are slowed and then kept out. */
export interface Caller {
  readonly actor: string;
  readonly ip: string;
}

const KEY_BYTES = 64;
/** The setting with the sealed verifier of the password. */
const KEY = 'encryption';
const SUBJECT = 'encryption';

/**
 * The password that wraps the keys of encrypted volumes, while it is known. It is never kept: after a restart those
 * volumes are locked until it is given again. Wrapped keys are sealed by the vault too, so that destroying
 * the vault's key destroys them, whatever the password.
 */
export class VolumeEncryption {
  readonly #tools: ArrayTools;
  readonly #keys: VolumeKeys;
  readonly #attempts: SignInAttempts;
  readonly #turns = new Locks();
  #wrapping: Buffer | undefined;

  constructor(tools: ArrayTools, keys: VolumeKeys) {
    this.#tools = tools;
    this.#keys = keys;
    this.#attempts = new SignInAttempts({ clock: tools.clock });
  }

  get isPasswordSet(): boolean {
    return this.#tools.store.read((db) => readSetting(db, KEY)) !== undefined;
  }

  get isActive(): boolean {
    return this.#wrapping !== undefined;
  }

  /** For a new volume. Not active: `volume_locked`. */
  newKey(): Uint8Array {
    this.#active();
    return randomBytes(KEY_BYTES);
  }

  /** A key as it is kept. Asked for in the transaction that keeps it, because a change of password rewraps all. */
  wrap(key: Uint8Array): string {
    return this.#tools.vault.seal(wrapKey(this.#active(), key));
  }

  /** Not active: `volume_locked`. */
  unwrap(wrapped: string): Uint8Array {
    return unwrapKey(this.#active(), this.#tools.vault.unseal(wrapped));
  }

  /** The first password, or another one in place of `old`; a right `old` also restores. */
  async setPassword(password: string, old: string | undefined, caller: Caller): Promise<void> {
    const before = this.#verifier();
    if (!before) return this.#turns.run(SUBJECT, () => this.#setFirst(password, caller));
    if (old === undefined)
      throw badParameter('old_encryption_pwd', 'must be sent: a password is set, and the keys are wrapped with it');
    const wrapping = await this.#check('old_encryption_pwd', old, before, caller);
    await this.#turns.run(SUBJECT, async () => {
      this.#refuseChanged('old_encryption_pwd', before);
      await this.#replace(wrapping, password, caller);
      await this.#unlockAll();
    });
  }

  async restore(password: string, caller: Caller): Promise<void> {
    const verifier = this.#verifier();
    if (!verifier) {
      throw fail('no_encryption_password');
    }
    const wrapping = await this.#check('encryption_pwd', password, verifier, caller);
    await this.#turns.run(SUBJECT, async () => {
      this.#refuseChanged('encryption_pwd', verifier);
      this.#wrapping = wrapping;
      const count = await this.#unlockAll();
      await this.#record(`The encryption password was restored; ${count} encrypted volumes can be used.`, caller);
    });
  }

  async #setFirst(password: string, caller: Caller): Promise<void> {
    const { store, vault, events } = this.#tools;
    const { wrapping, verifier } = await deriveKey(password);
    await store.write((tx) => {
      if (readSetting(tx, KEY) !== undefined) throw fail('encryption_password_race');
      writeSetting(tx, KEY, vault.seal(JSON.stringify(verifier)));
      events.record(tx, {
        severity: 'notice',
        title: 'The encryption password was set.',
        subject: SUBJECT,
        actor: caller.actor,
      });
    });
    this.#wrapping = wrapping;
  }

  /** All keys or none. The new key counts from inside the transaction on: a volume made right after it is wrapped with it. */
  async #replace(old: Buffer, password: string, { actor }: Caller): Promise<void> {
    const { store, vault, events } = this.#tools;
    const { wrapping, verifier } = await deriveKey(password);
    const before = this.#wrapping;
    try {
      await store.write((tx) => {
        for (const { name, wrappedKey } of this.#keys.list(tx)) {
          const key = unwrapKey(old, vault.unseal(wrappedKey));
          this.#keys.replace(tx, name, vault.seal(wrapKey(wrapping, key)));
        }
        writeSetting(tx, KEY, vault.seal(JSON.stringify(verifier)));
        const title = 'The encryption password was changed.';
        events.record(tx, { severity: 'notice', title, subject: SUBJECT, actor });
        this.#wrapping = wrapping;
      });
    } catch (error) {
      this.#wrapping = before;
      throw error;
    }
  }

  async #unlockAll(): Promise<number> {
    const { store, engine, readings } = this.#tools;
    const keys = store.read((db) => this.#keys.list(db));
    for (const { name, wrappedKey } of keys) {
      await partOf(engine, 'encryption')
        .unlockVolume(name, this.unwrap(wrappedKey))
        .catch((error: unknown) => {
          // Deleted meanwhile.
          if (!isEngineError(error, 'not-found')) throw error;
        });
    }
    await readings.refresh();
    return keys.length;
  }

  #active(): Buffer {
    if (!this.#wrapping) throw fail('volume_locked');
    return this.#wrapping;
  }

  #verifier(): Verifier | undefined {
    const { store, vault } = this.#tools;
    const sealed = store.read((db) => readSetting(db, KEY));
    return sealed === undefined ? undefined : (JSON.parse(vault.unseal(sealed)) as Verifier);
  }

  /** Passwords are checked before their turn, so that slow guesses do not delay other callers. */
  #refuseChanged(parameter: string, checked: Verifier): void {
    if (this.#verifier()?.mark !== checked.mark) throw badParameter(parameter, 'was changed a moment ago');
  }

  async #check(parameter: string, password: string, verifier: Verifier, { ip }: Caller): Promise<Buffer> {
    try {
      return await this.#attempts.guard({ username: SUBJECT, ip }, () => verifyKey(password, verifier));
    } catch (error) {
      // Not the caller's own sign-in is wrong, but this password.
      if (!(error instanceof GranaryError) || error.entry !== 'invalid_credentials') throw error;
      throw badParameter(parameter, 'is not the encryption password');
    }
  }

  async #record(title: string, { actor }: Caller): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => events.record(tx, { severity: 'notice', title, subject: SUBJECT, actor }));
  }
}
