import type { Caller, DataContext, Refused, Soon } from '../../objects/context.ts';
import { S3Error } from '../errors.ts';
import { canonicalDigest, type SignedParts, unsignedHeaders } from './canonical.ts';
import { ChunkSigner } from './chunk-signer.ts';
import { type Credential, readCredential, readSignedHeaders, readTime } from './credential.ts';
import { type Payload, readPayload, UNSIGNED } from './payload.ts';
import { checkExpiry, checkSkew, EXPIRES_SECONDS_MAX, readRequestTime } from './request-time.ts';
import { sameText } from './same-text.ts';
import { type SigningKey, SigningKeys } from './signing-key.ts';
import {
  isOldHeader,
  isOldQuery,
  isSignedOld,
  OLD_ALGORITHM,
  type OldClaim,
  type OldSignedRequest,
  readOldHeader,
  readOldQuery,
} from './version-two.ts';

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION = /^AWS4-HMAC-SHA256\s+(.*)$/;

export type SignedRequest = SignedParts & OldSignedRequest;

/** What policies call the two ways to sign. */
export type SignatureVersion = typeof ALGORITHM | typeof OLD_ALGORITHM;

export interface Authentication {
  /** Null for anonymous callers. */
  readonly caller: Caller | null;
  readonly payload: Payload;
  /** For bodies whose chunks are signed. */
  readonly chunks: ChunkSigner | null;
  readonly presigned: boolean;
  readonly signedWith: SignatureVersion | null;
}

export type FormSignature = Pick<Authentication, 'signedWith'> & { readonly caller: Caller };

interface Claim {
  readonly credential: Credential;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly timestamp: string;
  /** What stands for the body in the canonical request. */
  readonly payload: string;
  readonly presigned: boolean;
}

export class Authenticator {
  readonly #context: DataContext;
  readonly #keys = new SigningKeys();

  constructor(context: DataContext) {
    this.#context = context;
  }

  /** Who sent it; anonymous requests pass, wrong ones throw. Answers at once where the directory does. */
  authenticate(request: SignedRequest, now: number): Soon<Authentication> {
    const claim = this.#claim(request, now);
    if (!claim) return anonymous(request);
    if ('texts' in claim) return this.#authenticateOld(request, claim);
    const payload = readPayload(claim.payload);
    const digest = canonicalDigest(
      request,
      claim.signedHeaders,
      claim.payload,
      claim.presigned ? 'X-Amz-Signature' : undefined,
    );
    const { credential, timestamp } = claim;
    return this.#withKey(credential, (caller, key) => {
      const expected = key.sign(`${ALGORITHM}\n${timestamp}\n${credential.scopeText}\n${digest}`);
      if (!sameText(expected, claim.signature)) throw mismatch(credential.accessKey);
      const signed = payload.kind === 'chunked' && payload.signed;
      const chunks = signed ? new ChunkSigner(key, timestamp, credential.scopeText, expected) : null;
      return { caller, payload, chunks, presigned: claim.presigned, signedWith: ALGORITHM };
    });
  }

  #authenticateOld(request: SignedRequest, claim: OldClaim): Soon<Authentication> {
    refuseToken(request);
    const payload = unsignedPayload(request);
    return this.#withSecret(claim.accessKey, (caller, secret) => {
      if (!isSignedOld(secret, claim.texts, claim.signature)) throw mismatch(claim.accessKey);
      return { caller, payload, chunks: null, presigned: claim.presigned, signedWith: OLD_ALGORITHM };
    });
  }

  /** The signature of a form's policy, by either version. */
  authenticateForm(field: Field, policy: string): Soon<FormSignature> {
    const isOld = field('awsaccesskeyid') !== undefined || field('signature') !== undefined;
    return isOld ? this.#authenticateOldForm(field, policy) : this.#authenticateNewForm(field, policy);
  }

  #authenticateOldForm(field: Field, policy: string): Soon<FormSignature> {
    const need = (name: string, called: string): string => {
      const value = field(name);
      if (value !== undefined && value !== '') return value;
      throw new S3Error('InvalidArgument', `Bucket POST must contain a field named '${called}'.`, {
        ArgumentName: called,
      });
    };
    const accessKey = need('awsaccesskeyid', 'AWSAccessKeyId');
    const signature = need('signature', 'Signature');
    return this.#withSecret(accessKey, (caller, secret) => {
      if (!isSignedOld(secret, [policy], signature)) throw mismatch(accessKey);
      return { caller, signedWith: OLD_ALGORITHM };
    });
  }

  #authenticateNewForm(field: Field, policy: string): Soon<FormSignature> {
    if (field('x-amz-algorithm') !== ALGORITHM) {
      throw new S3Error('InvalidArgument', `The field x-amz-algorithm must be ${ALGORITHM}.`);
    }
    const timestamp = field('x-amz-date') ?? '';
    if (readTime(timestamp) === undefined) {
      throw new S3Error('InvalidArgument', 'The field x-amz-date must be a time like 20261116T123456Z.');
    }
    const complain: Complain = (message, details) => new S3Error('InvalidArgument', message, details);
    const credential = this.#credential(field('x-amz-credential') ?? '', timestamp, complain);
    return this.#withKey(credential, (caller, key) => {
      if (!sameText(key.sign(policy), field('x-amz-signature') ?? '')) throw mismatch(credential.accessKey);
      return { caller, signedWith: ALGORITHM };
    });
  }

  #claim(request: SignedRequest, now: number): Claim | OldClaim | undefined {
    const { query } = request.address;
    const header = request.headers.authorization?.trim() || undefined;
    const presigned = query.has('X-Amz-Algorithm') || query.has('X-Amz-Signature');
    const isOld = isOldQuery(query);
    if ([header !== undefined, presigned, isOld].filter(Boolean).length > 1) {
      throw new S3Error('InvalidArgument', 'Sign with the Authorization header or with the query, and once.');
    }
    if (header !== undefined) {
      return isOldHeader(header) ? readOldHeader(request, header, now) : this.#headerClaim(request, header, now);
    }
    if (presigned) return this.#queryClaim(request, now);
    return isOld ? readOldQuery(request, now) : undefined;
  }

  #headerClaim(request: SignedRequest, header: string, now: number): Claim {
    const complain: Complain = (message, details) => new S3Error('AuthorizationHeaderMalformed', message, details);
    const fields = readAuthorization(header, complain);
    const payload = request.headers['x-amz-content-sha256'];
    if (typeof payload !== 'string') {
      throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256');
    }
    const { timestamp, time } = readRequestTime(request.headers);
    const credential = this.#credential(fields.credential, timestamp, complain);
    checkSkew(time, now);
    const signedHeaders = readSignedHeaders(fields.signedHeaders, complain);
    refuseUnsigned(request, signedHeaders);
    return { credential, signedHeaders, signature: fields.signature, timestamp, payload, presigned: false };
  }

  #queryClaim(request: SignedRequest, now: number): Claim {
    const complain: Complain = (message, details) => new S3Error('AuthorizationQueryParametersError', message, details);
    const need = (name: string): string => {
      const value = request.address.query.get(name);
      if (value === undefined || value === '') throw complain(`${name} is missing.`);
      return value;
    };
    if (need('X-Amz-Algorithm') !== ALGORITHM) throw complain(`X-Amz-Algorithm must be ${ALGORITHM}.`);
    if (request.address.query.has('X-Amz-Security-Token')) throw new S3Error('InvalidToken');
    const timestamp = need('X-Amz-Date');
    const time = readTime(timestamp);
    if (time === undefined) throw complain('X-Amz-Date must be a time like 20261116T123456Z.');
    checkExpiry(time, readExpires(need('X-Amz-Expires'), complain), now);
    const credential = this.#credential(need('X-Amz-Credential'), timestamp, complain);
    const signedHeaders = readSignedHeaders(need('X-Amz-SignedHeaders'), complain);
    refuseUnsigned(request, signedHeaders);
    const given = request.headers['x-amz-content-sha256'] ?? request.address.query.get('X-Amz-Content-Sha256');
    const payload = typeof given === 'string' ? given : UNSIGNED;
    return { credential, signedHeaders, signature: need('X-Amz-Signature'), timestamp, payload, presigned: true };
  }

  #credential(text: string, timestamp: string, complain: Complain): Credential {
    return readCredential(text, this.#context.settings().region, timestamp.slice(0, 8), complain);
  }

  #withKey<T>(credential: Credential, then: (caller: Caller, key: SigningKey) => T): Soon<T> {
    const { accessKey, scope } = credential;
    return this.#withSecret(accessKey, (caller, secret) => then(caller, this.#keys.for(accessKey, secret, scope)));
  }

  #withSecret<T>(accessKey: string, then: (caller: Caller, secret: string) => T): Soon<T> {
    const go = (found: Found): T => {
      if ('refused' in found) throw refusal(accessKey);
      return then(found.caller, found.secret);
    };
    const found = this.#context.directory.byS3Key(accessKey);
    return found instanceof Promise ? found.then(go) : go(found);
  }
}

type Complain = (message: string, details?: Readonly<Record<string, string>>) => S3Error;
type Field = (name: string) => string | undefined;
type Found = { readonly caller: Caller; readonly secret: string } | Refused;

function anonymous(request: SignedRequest): Authentication {
  return { caller: null, payload: unsignedPayload(request), chunks: null, presigned: false, signedWith: null };
}

/** How the body of a request comes whose signature, if it has one, does not cover it. */
function unsignedPayload(request: SignedRequest): Payload {
  const given = request.headers['x-amz-content-sha256'];
  const payload = readPayload(typeof given === 'string' ? given : UNSIGNED);
  if (payload.kind !== 'chunked' || !payload.signed) return payload;
  throw new S3Error('InvalidRequest', `Chunks can only be signed in a request that is signed with ${ALGORITHM}.`);
}

function readAuthorization(header: string, complain: Complain) {
  const match = AUTHORIZATION.exec(header.trim());
  if (!match) throw unsupported();
  const fields = new Map<string, string>();
  for (const piece of (match[1] ?? '').split(',')) {
    const equals = piece.indexOf('=');
    const name = piece.slice(0, Math.max(equals, 0)).trim();
    if (fields.has(name)) throw complain(`${name.slice(0, 64)} is there twice.`);
    fields.set(name, piece.slice(equals + 1).trim());
  }
  const need = (name: string): string => {
    const value = fields.get(name);
    if (value === undefined || value === '') throw complain(`The Authorization header lacks ${name}.`);
    return value;
  };
  return { credential: need('Credential'), signedHeaders: need('SignedHeaders'), signature: need('Signature') };
}

function readExpires(text: string, complain: Complain): number {
  const seconds = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > EXPIRES_SECONDS_MAX) {
    throw complain(`X-Amz-Expires must be a number of seconds from 1 to ${EXPIRES_SECONDS_MAX}.`);
  }
  return seconds;
}

function refuseUnsigned(request: SignedRequest, signedHeaders: readonly string[]): void {
  refuseToken(request);
  const unsigned = unsignedHeaders(request.rawHeaders, signedHeaders);
  if (unsigned.length === 0) return;
  throw new S3Error('AccessDenied', 'There were headers present in the request which were not signed', {
    HeadersNotSigned: unsigned.join(', '),
  });
}

function refuseToken({ headers, address }: SignedRequest): void {
  if (headers['x-amz-security-token'] !== undefined || address.query.has('x-amz-security-token')) {
    throw new S3Error('InvalidToken');
  }
}

/** The same for all reasons: nothing is proven yet, and who guesses keys learns nothing of accounts. */
function refusal(accessKey: string): S3Error {
  return new S3Error('InvalidAccessKeyId', undefined, { AWSAccessKeyId: accessKey.slice(0, 128) });
}

function mismatch(accessKey: string): S3Error {
  return new S3Error('SignatureDoesNotMatch', undefined, { AWSAccessKeyId: accessKey.slice(0, 128) });
}

function unsupported(): S3Error {
  return new S3Error('InvalidArgument', `The Authorization header must begin with ${ALGORITHM} or ${OLD_ALGORITHM}.`);
}
