import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { InitiatorProtocolError } from './errors.ts';

export interface ChapCredentials {
  readonly username: string;
  readonly secret: string;
  /** What the target must prove to us in turn. */
  readonly mutual?: { readonly username: string; readonly secret: string };
  /** Algorithms to offer, best first, by their numbers: 5 is MD5, 6 SHA1, 7 SHA256. */
  readonly algorithms?: readonly number[];
}

const HASHES = new Map([
  [5, 'md5'],
  [6, 'sha1'],
  [7, 'sha256'],
  [8, 'sha3-256'],
]);
const CHALLENGE_BYTES = 16;

/** The initiator's side of one CHAP exchange. */
export class Chap {
  readonly #credentials: ChapCredentials;
  readonly #identifier = randomBytes(1);
  readonly #challenge = randomBytes(CHALLENGE_BYTES);
  #hash = 'md5';

  constructor(credentials: ChapCredentials) {
    this.#credentials = credentials;
  }

  offer(): [string, string][] {
    return [['CHAP_A', (this.#credentials.algorithms ?? [5]).join(',')]];
  }

  /** Our answer to the target's challenge, and our own challenge when the target is to prove itself too. */
  respond(answers: ReadonlyMap<string, string>): [string, string][] {
    const algorithm = Number(answers.get('CHAP_A'));
    const hash = HASHES.get(algorithm);
    if (hash === undefined || !(this.#credentials.algorithms ?? [5]).includes(algorithm)) {
      throw new InitiatorProtocolError(
        `The target chose CHAP algorithm ${answers.get('CHAP_A') ?? 'none'}, which we did not offer`,
      );
    }
    this.#hash = hash;
    const { username, secret, mutual } = this.#credentials;
    const proof = this.#prove(Buffer.of(Number(answers.get('CHAP_I'))), secret, fromText(answers.get('CHAP_C') ?? ''));
    const pairs: [string, string][] = [
      ['CHAP_N', username],
      ['CHAP_R', `0x${proof.toString('hex')}`],
    ];
    if (mutual === undefined) return pairs;
    return [...pairs, ['CHAP_I', String(this.#identifier[0])], ['CHAP_C', `0x${this.#challenge.toString('hex')}`]];
  }

  /** Throws unless the target proved that it knows the mutual secret. */
  check(answers: ReadonlyMap<string, string>): void {
    const { mutual } = this.#credentials;
    if (mutual === undefined) return;
    const proof = fromText(answers.get('CHAP_R') ?? '');
    const wanted = this.#prove(this.#identifier, mutual.secret, this.#challenge);
    if (
      answers.get('CHAP_N') !== mutual.username ||
      proof.length !== wanted.length ||
      !timingSafeEqual(proof, wanted)
    ) {
      throw new InitiatorProtocolError(
        'The target did not prove who it is: check the mutual CHAP name and secret on both sides',
      );
    }
  }

  #prove(identifier: Buffer, secret: string, challenge: Buffer): Buffer {
    return createHash(this.#hash).update(identifier).update(secret).update(challenge).digest();
  }
}

/** Binary values are written as 0x… or 0b…. */
function fromText(text: string): Buffer {
  if (/^0b/i.test(text)) return Buffer.from(text.slice(2), 'base64');
  const digits = text.replace(/^0x/i, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}
