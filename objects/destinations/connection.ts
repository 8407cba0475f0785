import { connectionReason, fail, GranaryError } from '@granary/kernel';
import { RemoteRefusal, RemoteS3, type RemotePlace } from '@granary/protocols/s3/client';

const ANSWER_MS_MAX = 10_000;
/** What S3 calls it when the key or its secret is wrong, or may do nothing. */
const BAD_KEYS = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AccessDenied', 'InvalidClientTokenId']);

export interface Tested {
  /** As the caller gave it, for messages. */
  readonly endpoint: string;
  /** Tried in this order. */
  readonly urls: readonly string[];
  readonly identity: Omit<RemotePlace, 'url' | 'address'>;
  readonly address: (host: string) => Promise<string>;
}

/** Asks for the list of buckets, signed. Returns where it answered. */
export async function testConnection({ endpoint, urls, identity, address }: Tested): Promise<string> {
  let problem: unknown;
  for (const url of urls) {
    try {
      await listBuckets({ ...identity, url, address: await address(new URL(url).hostname) });
      return url;
    } catch (error) {
      problem = error;
      if (!isWorthAnotherTry(error)) break;
    }
  }
  if (problem instanceof GranaryError) throw problem;
  throw fail('connection_failed', { endpoint, reason: reasonFor(problem) });
}

async function listBuckets(place: RemotePlace): Promise<void> {
  const remote = new RemoteS3(place, { idleMs: ANSWER_MS_MAX });
  try {
    await remote.send({ method: 'GET', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } finally {
    remote.close();
  }
}

/** What answered, and a certificate that is not trusted, are no reason to try with less care. */
function isWorthAnotherTry(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return !(error instanceof GranaryError || error instanceof RemoteRefusal || /CERT|ERR_TLS|UNABLE_TO/.test(code));
}

export function reasonFor(error: unknown): string {
  if (error instanceof RemoteRefusal) {
    const isKeys = BAD_KEYS.has(error.code) || error.status === 401 || (error.status === 403 && error.code === '');
    return isKeys ? `${error.message}: it refused the access key or its secret` : error.message;
  }
  if ((error as NodeJS.ErrnoException).code === 'ABORT_ERR') return 'it did not answer in time';
  return connectionReason(error);
}
