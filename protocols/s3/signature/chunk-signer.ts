import type { SigningKey } from './signing-key.ts';
import { EMPTY_SHA256 } from './payload.ts';
import { sameText } from './same-text.ts';

/** The chain of signatures of a body, made or verified: each covers the one before it, the first that of the request. */
export class ChunkSigner {
  readonly #key: SigningKey;
  readonly #context: string;
  #previous: string;

  constructor(key: SigningKey, timestamp: string, scope: string, seed: string) {
    this.#key = key;
    this.#context = `${timestamp}\n${scope}`;
    this.#previous = seed;
  }

  /** Of the chunk with this hash, the next of the body. */
  sign(sha256: string): string {
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${this.#context}\n${this.#previous}\n${EMPTY_SHA256}\n${sha256}`;
    this.#previous = this.#key.sign(text);
    return this.#previous;
  }

  chunk(signature: string, sha256: string): boolean {
    return sameText(this.sign(sha256), signature);
  }

  trailer(signature: string, sha256: string): boolean {
    const text = `AWS4-HMAC-SHA256-TRAILER\n${this.#context}\n${this.#previous}\n${sha256}`;
    this.#previous = this.#key.sign(text);
    return sameText(this.#previous, signature);
  }
}
