import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly keyId: string;
  readonly secret: string;
}

interface SignedRequest {
  readonly method: string;
  readonly host: string;
  /** Encoded, without the query. */
  readonly path: string;
  readonly query: string;
  readonly region: string;
  readonly atMs: number;
}

const NOTHING = createHash('sha256').digest('hex');

/** Headers of a request without a body, signed by version 4 of Amazon's scheme. */
export function signedHeaders(request: SignedRequest, { keyId, secret }: S3Credentials): Record<string, string> {
  const time = new Date(request.atMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = [time.slice(0, 8), request.region, 's3', 'aws4_request'];
  const headers = { host: request.host, 'x-amz-content-sha256': NOTHING, 'x-amz-date': time };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([key, value]) => `${key}:${value}\n`);
  const canonical = [request.method, request.path, request.query, lines.join(''), names, NOTHING].join('\n');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), digest].join('\n');
  const key = scope.reduce<Buffer | string>((from, part) => hmac(from, part), `AWS4${secret}`);
  const signature = hmac(key, text).toString('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${keyId}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
