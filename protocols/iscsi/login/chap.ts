import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeBinary, encodeBinary, type TextPairs } from './text.ts';

export interface ChapSecrets {
  readonly user: string;
  readonly secret: string;
  /** With these the target can prove itself to the initiator, too. */
  readonly mutualUser?: string;
  readonly mutualSecret?: string;
  /** An initiator that does not offer CHAP, or offers None before it, is admitted without the secret. */
  readonly isOptional?: boolean;
}

/** Numbers of the IANA registry "PPP Authentication Algorithms". */
const ALGORITHMS: Readonly<Record<string, string>> = { '5': 'md5', '6': 'sha1', '7': 'sha256', '8': 'sha3-256' };

const CHALLENGE_BYTES_MAX = 1024;

export type ChapStep =
  | { readonly kind: 'reply'; readonly pairs: [string, string][] }
  | { readonly kind: 'passed'; readonly pairs: [string, string][] }
  | { readonly kind: 'refused'; readonly reason: string };

/** The target's side of one CHAP talk: choose an algorithm, ask, check the answer, answer in turn if asked to. */
export class ChapExchange {
  readonly #secrets: ChapSecrets;
  readonly #random: (bytes: number) => Buffer;
  #algorithm: string | undefined;
  #identifier = 0;
  #challenge = Buffer.alloc(0);

  constructor(secrets: ChapSecrets, random: (bytes: number) => Buffer = randomBytes) {
    this.#secrets = secrets;
    this.#random = random;
  }

  step(pairs: TextPairs): ChapStep {
    if (this.#algorithm === undefined) return this.#sendChallenge(pairs);
    return this.#check(this.#algorithm, pairs);
  }

  #sendChallenge(pairs: TextPairs): ChapStep {
    const chosen = pairs
      .get('CHAP_A')
      ?.split(',')
      .find((number) => Object.hasOwn(ALGORITHMS, number));
    const algorithm = chosen === undefined ? undefined : ALGORITHMS[chosen];
    if (chosen === undefined || algorithm === undefined) return refused('no CHAP algorithm in common');
    this.#algorithm = algorithm;
    this.#identifier = this.#random(1)[0] ?? 0;
    this.#challenge = Buffer.from(this.#random(algorithm === 'md5' ? 16 : 32));
    return {
      kind: 'reply',
      pairs: [
        ['CHAP_A', chosen],
        ['CHAP_I', String(this.#identifier)],
        ['CHAP_C', encodeBinary(this.#challenge)],
      ],
    };
  }

  #check(algorithm: string, pairs: TextPairs): ChapStep {
    const response = decodeBinary(pairs.get('CHAP_R') ?? '');
    const expected = chapResponse(algorithm, this.#identifier, this.#secrets.secret, this.#challenge);
    if (response?.length !== expected.length || !timingSafeEqual(response, expected)) {
      return refused('the CHAP answer is wrong');
    }
    if (pairs.get('CHAP_N') !== this.#secrets.user) return refused('the CHAP name is wrong');
    if (!pairs.has('CHAP_I') && !pairs.has('CHAP_C')) return { kind: 'passed', pairs: [] };
    return this.#prove(algorithm, pairs);
  }

  #prove(algorithm: string, pairs: TextPairs): ChapStep {
    const { mutualUser, mutualSecret } = this.#secrets;
    if (mutualUser === undefined || mutualSecret === undefined) {
      return refused('the initiator wants proof from the target, and no secret is set for that');
    }
    const identifier = Number(pairs.get('CHAP_I') ?? Number.NaN);
    const challenge = decodeBinary(pairs.get('CHAP_C') ?? '');
    if (!Number.isInteger(identifier) || identifier < 0 || identifier > 255 || challenge === undefined) {
      return refused('the CHAP question of the initiator makes no sense');
    }
    // Our own question sent back is an attempt to have us answer it.
    if (challenge.length > CHALLENGE_BYTES_MAX || challenge.equals(this.#challenge)) {
      return refused('the CHAP question of the initiator is not acceptable');
    }
    return {
      kind: 'passed',
      pairs: [
        ['CHAP_N', mutualUser],
        ['CHAP_R', encodeBinary(chapResponse(algorithm, identifier, mutualSecret, challenge))],
      ],
    };
  }
}

export function chapResponse(algorithm: string, identifier: number, secret: string, challenge: Buffer): Buffer {
  return createHash(algorithm).update(Buffer.of(identifier)).update(secret, 'utf8').update(challenge).digest();
}

function refused(reason: string): ChapStep {
  return { kind: 'refused', reason };
}
