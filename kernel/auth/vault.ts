import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A key that is missing or does not match its database. The message names the file and what to do. */
export class KeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyError';
  }
}

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals secrets that must be shown again (tokens, passcodes, keys of clouds) before they are written to disk. */
export class Vault {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`A vault key has ${KEY_BYTES} bytes, not ${key.length}`);
    this.#key = key;
  }

  /** The key file is beside the data, readable by its owner only; `GRANARY_MASTER_KEY` (64 hex digits) replaces it. */
  static open(keyFile: string): Vault {
    const given = masterKeyGiven();
    if (given !== undefined) return new Vault(keyFrom(given, 'GRANARY_MASTER_KEY'));
    if (!existsSync(keyFile)) createKey(keyFile);
    chmodSync(keyFile, 0o600);
    return new Vault(keyFrom(readFileSync(keyFile, 'utf8').trim(), keyFile));
  }

  seal(plain: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  unseal(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  }

  /** A keyed hash, to compare texts without storing them: a weak password cannot be guessed from a stolen disk. */
  mark(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}

export function masterKeyGiven(): string | undefined {
  return process.env['GRANARY_MASTER_KEY'];
}

function keyFrom(text: string, source: string): Buffer {
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new KeyError(`${source} must be 64 hex digits; put the right key there.`);
  return Buffer.from(text, 'hex');
}

/** Durable, including its name, before anything is sealed with it: data without its key is lost. */
function createKey(keyFile: string): void {
  const folder = dirname(keyFile);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(keyFile, randomBytes(KEY_BYTES).toString('hex'), { mode: 0o600, flag: 'wx', flush: true });
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** The lookup key of a token: the token itself is stored sealed. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** A token, a key or a passcode: 160 bits, in characters that survive a shell and a URL. */
export function newSecret(bytes = 20): string {
  return randomBytes(bytes).toString('base64url');
}
