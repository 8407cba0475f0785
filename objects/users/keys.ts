import { randomBytes } from 'node:crypto';
import { fingerprint, newSecret, type Clock, type Vault } from '@granary/kernel';
import type { SealedAccessKey, SealedKeys, SealedToken } from './user.ts';

interface KeysOptions {
  readonly vault: Vault;
  readonly clock: Clock;
  readonly tokenMinutes: () => number;
}

const CODE_BYTES = 12;
const S3_SECRET_BYTES = 30;
const CODE_LIFE_MS = 24 * 3600 * 1000;

/** Makes everything that opens a door, sealed as it is kept. */
export class Keys {
  readonly #options: KeysOptions;

  constructor(options: KeysOptions) {
    this.#options = options;
  }

  all(): SealedKeys {
    const s3AccessKey = randomBytes(10).toString('hex').toUpperCase();
    const { sealed } = this.s3Secret();
    return { ...this.token(), ...this.accessKey(), s3AccessKey, s3SecretKeySealed: sealed };
  }

  token(): SealedToken {
    const { vault, clock, tokenMinutes } = this.#options;
    const token = newSecret();
    return {
      tokenSealed: vault.seal(token),
      tokenMark: fingerprint(token),
      tokenExpiresAt: clock.now() + tokenMinutes() * 60_000,
    };
  }

  accessKey(): SealedAccessKey {
    const key = newSecret();
    return { accessKeySealed: this.#options.vault.seal(key), accessKeyMark: fingerprint(key) };
  }

  s3Secret(): { readonly secret: string; readonly sealed: string } {
    const secret = newSecret(S3_SECRET_BYTES);
    return { secret, sealed: this.#options.vault.seal(secret) };
  }

  /** Sets a password once, within a day. */
  code(): { readonly code: string; readonly mark: string; readonly expiresAt: number } {
    const code = newSecret(CODE_BYTES);
    return { code, mark: this.codeMark(code), expiresAt: this.#options.clock.now() + CODE_LIFE_MS };
  }

  codeMark(code: string): string {
    return this.#options.vault.mark(code);
  }
}
