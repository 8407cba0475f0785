import type { SigningKey } from './signing-key.ts';
import { EMPTY_SHA256 } from './payload.ts';
import { sameText } from './same-text.ts';

/** Verifies the chain of signatures of a body: each covers the one before it, the first that of the request. */
export class ChunkSigner {
  readonly #key: SigningKey;
  readonly #context: string;
  #previous: string;

  constructor(key: SigningKey, timestamp: string, scope: string, seed: string) {
    this.#key = key;
    this.#context = `${timestamp}\n${scope}`;
    this.#previous = seed;
  }

  chunk(signature: string, sha256: string): boolean {
    return this.#check(
      signature,
      `AWS4-HMAC-SHA256-PAYLOAD\n${this.#context}\n${this.#previous}\n${EMPTY_SHA256}\n${sha256}`,
    );
  }

  trailer(signature: string, sha256: string): boolean {
    return this.#check(signature, `AWS4-HMAC-SHA256-TRAILER\n${this.#context}\n${this.#previous}\n${sha256}`);
  }

  #check(signature: string, text: string): boolean {
    const expected = this.#key.sign(text);
    this.#previous = expected;
    return sameText(expected, signature);
  }
}
