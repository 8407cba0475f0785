import { createPrivateKey, createPublicKey, randomBytes, X509Certificate, type KeyObject } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { issuerProblem } from './issuer-request.ts';
import { Issuer, newKey } from './issuer.ts';

const CERTIFICATE = 'authority.crt';
const KEY = 'authority.key';
const ISSUER_CERTIFICATE = 'issuer.crt';
const ISSUER_KEY = 'issuer.key';
const JOINED_BY = 'joined-by';

/** A key or certificate file that cannot be used; the message names it and says what to do. */
export class AuthorityError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'AuthorityError';
  }
}

export function authorityFile(folder: string): string {
  return join(folder, CERTIFICATE);
}

/**
 * The certificate authority of an installation, made at the first start: `authority.crt` for everyone, `authority.key`
 * for its owner alone. The key is encrypted by `GRANARY_MASTER_KEY` where that is set.
 */
export function openAuthority(folder: string, now: number): Issuer {
  const certificateFile = authorityFile(folder);
  const keyFile = join(folder, KEY);
  // The key is written first: one without a certificate has signed nothing yet, and is replaced.
  if (!existsSync(certificateFile)) {
    // With a unique name, or clients that know two authorities would confuse them.
    const { issuer, key } = Issuer.createAuthority(`Granary authority ${randomBytes(4).toString('hex')}`, now);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeKey(folder, KEY, key);
    writeDurably(folder, CERTIFICATE, issuer.chain.join(''), 0o644);
  }
  return load(certificateFile, keyFile);
}

/** What a cloud signs the certificates of its own servers and arrays with. */
export class CloudIssuerFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Created before the first certificate is requested, and kept: a cloud that requests again is the same one. */
  #key(): KeyObject {
    const file = join(this.#folder, ISSUER_KEY);
    if (!existsSync(file)) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeKey(this.#folder, ISSUER_KEY, newKey());
    }
    return readKey(file);
  }

  /** Used until an authority has signed its key. */
  unsigned(now: number): Issuer {
    return Issuer.createUnsigned(this.#key(), now);
  }

  /**
   * Stores the certificate that an authority signed for this key; throws when it is of another authority or for another
   * key.
   */
  accept(chain: string, authority: string): Issuer {
    const problem = issuerProblem(chain, this.#key(), authority);
    if (problem !== undefined) throw new AuthorityError(`The certificate for this cloud ${problem}; it is not taken.`);
    this.#save(chain);
    return this.load() as Issuer;
  }

  /** A hash of the code that a cloud joined with: given again, it is not used again. */
  joinedBy(): string | undefined {
    const file = join(this.#folder, JOINED_BY);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  }

  keepJoinedBy(mark: string): void {
    writeDurably(this.#folder, JOINED_BY, mark, 0o600);
  }

  #save(chain: string): void {
    writeDurably(this.#folder, ISSUER_CERTIFICATE, chain, 0o644);
  }

  load(): Issuer | undefined {
    const file = join(this.#folder, ISSUER_CERTIFICATE);
    return existsSync(file) ? load(file, join(this.#folder, ISSUER_KEY)) : undefined;
  }

  /** An issuer of the authority beside it: signed again when the existing one is of another authority. */
  ensure(authority: Issuer, now: number): Issuer {
    const kept = this.load();
    if (kept?.authority === authority.certificate) return kept;
    this.#save(authority.issueIssuer(createPublicKey(this.#key()), now));
    return this.load() as Issuer;
  }
}

function load(certificateFile: string, keyFile: string): Issuer {
  if (!existsSync(keyFile))
    throw new AuthorityError(`${keyFile} is missing beside ${certificateFile}; restore it from a backup.`);
  const key = readKey(keyFile);
  const chain = readFileSync(certificateFile, 'utf8');
  try {
    const issuer = new Issuer(chain, key);
    if (issuer.chain.every((certificate) => new X509Certificate(certificate).ca)) return issuer;
  } catch (error) {
    throw new AuthorityError(
      `${certificateFile} and ${keyFile} do not belong together or are damaged; restore both from a backup.`,
      error,
    );
  }
  throw new AuthorityError(`${certificateFile} holds a certificate that is no authority's; restore it from a backup.`);
}

function readKey(file: string): KeyObject {
  chmodSync(file, 0o600);
  const passphrase = process.env['GRANARY_MASTER_KEY'];
  try {
    return createPrivateKey({ key: readFileSync(file, 'utf8'), ...(passphrase !== undefined && { passphrase }) });
  } catch {
    // Without the cause: OpenSSL's message may quote the key.
    const how = 'it is damaged, or encrypted with another GRANARY_MASTER_KEY than the one set';
    throw new AuthorityError(`${file} cannot be read: ${how}; set that key, or restore the file from a backup.`);
  }
}

function writeKey(folder: string, name: string, key: KeyObject): void {
  const passphrase = process.env['GRANARY_MASTER_KEY'];
  const cipher = passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase };
  writeDurably(folder, name, key.export({ type: 'pkcs8', format: 'pem', ...cipher }) as string, 0o600);
}

/** Written beside and renamed: after a crash either the old file or the new one exists, complete. */
function writeDurably(folder: string, name: string, text: string, mode: number): void {
  const draft = join(folder, `.${name}.${process.pid}`);
  writeFileSync(draft, text, { mode, flush: true });
  renameSync(draft, join(folder, name));
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
