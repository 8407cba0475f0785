import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** One side of an agreement: the public half travels, the shared secret never does. */
export interface Agreement {
  readonly publicKey: string;
  /** Undefined when the other side's key is none. */
  readonly agree: (theirs: string) => Buffer | undefined;
}

export function newAgreement(): Agreement {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  return {
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
    agree: (theirs) => sharedSecret(privateKey, theirs),
  };
}

function sharedSecret(privateKey: KeyObject, theirs: string): Buffer | undefined {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: theirs }, format: 'jwk' });
    return diffieHellman({ privateKey, publicKey });
  } catch {
    return undefined;
  }
}

/** What two arrays that agreed on a secret use it for. */
export class PairKeys {
  /** What the caller shows to be let in. */
  readonly accessKey: string;
  readonly #frameKey: Buffer;

  constructor(secret: Buffer) {
    this.accessKey = derive(secret, 'granary peer access').toString('base64url');
    this.#frameKey = derive(secret, 'granary mirror data');
  }

  /** Sealed, it can neither be read nor changed on its way, nor passed off as another part. */
  seal(plain: Uint8Array, about: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#frameKey, nonce).setAAD(Buffer.from(about));
    const sealed = cipher.update(plain);
    cipher.final();
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Undefined when it is not what the other side sealed. */
  unseal(sealed: Uint8Array, about: string): Buffer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(ALGORITHM, this.#frameKey, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(about)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
    try {
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}

function derive(secret: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, 32));
}
