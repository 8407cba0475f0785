import { createHash, createHmac } from 'node:crypto';

/** A client's side of Signature V4, written apart from the server's so that they do not share mistakes. */
export interface ToSign {
  readonly method: string;
  /** Percent-encoded, as it goes over the wire. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** What stands for the body: default its SHA-256. */
  readonly payload?: string;
}

export interface Signer {
  readonly accessKey: string;
  readonly secret: string;
  readonly region: string;
  readonly host: string;
  /** `20261116T123456Z`. */
  readonly time: string;
}

export interface SignedHttp {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly signature: string;
}

export const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Uint8Array | string, data: string): Buffer => createHmac('sha256', key).update(data).digest();

export function encode(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

export const encodeKey = (key: string): string => key.split('/').map(encode).join('/');

export function scopeOf({ time, region }: Signer): string {
  return `${time.slice(0, 8)}/${region}/s3/aws4_request`;
}

export function signText(signer: Signer, text: string): string {
  const day = hmac(`AWS4${signer.secret}`, signer.time.slice(0, 8));
  const key = hmac(hmac(hmac(day, signer.region), 's3'), 'aws4_request');
  return hmac(key, text).toString('hex');
}

function signRequest(
  signer: Signer,
  toSign: ToSign,
  query: Record<string, string>,
  headers: Record<string, string>,
  payload: string,
) {
  const names = Object.keys(headers).sort();
  const canonical = [
    toSign.method,
    toSign.path,
    queryText(query),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
  return signText(
    signer,
    ['AWS4-HMAC-SHA256', signer.time, scopeOf(signer), sha256(Buffer.from(canonical, 'latin1'))].join('\n'),
  );
}

function queryText(query: Record<string, string>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

export function signHeaders(signer: Signer, toSign: ToSign): SignedHttp {
  const payload = toSign.payload ?? sha256(toSign.body ?? '');
  const own: Record<string, string> = {
    host: signer.host,
    'x-amz-date': signer.time,
    'x-amz-content-sha256': payload,
    ...toSign.headers,
  };
  const query = { ...toSign.query };
  const signature = signRequest(signer, toSign, query, own, payload);
  const authorization = `AWS4-HMAC-SHA256 Credential=${signer.accessKey}/${scopeOf(signer)}, SignedHeaders=${Object.keys(own).sort().join(';')}, Signature=${signature}`;
  const text = queryText(query);
  const url = text === '' ? toSign.path : `${toSign.path}?${text}`;
  return { method: toSign.method, url, headers: { ...own, authorization }, signature };
}

export function presign(signer: Signer, toSign: ToSign, expires: number): SignedHttp {
  const own: Record<string, string> = { host: signer.host, ...toSign.headers };
  const query: Record<string, string> = {
    ...toSign.query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${signer.accessKey}/${scopeOf(signer)}`,
    'X-Amz-Date': signer.time,
    'X-Amz-Expires': String(expires),
    'X-Amz-SignedHeaders': Object.keys(own).sort().join(';'),
  };
  const signature = signRequest(signer, toSign, query, own, toSign.payload ?? 'UNSIGNED-PAYLOAD');
  const url = `${toSign.path}?${queryText(query)}&X-Amz-Signature=${signature}`;
  return { method: toSign.method, url, headers: own, signature };
}

/** aws-chunked: the chunks signed where there is a seed, then the trailers. */
export function chunked(
  signer: Signer,
  seed: string | null,
  chunks: readonly (Uint8Array | string)[],
  trailers?: Readonly<Record<string, string>>,
): Buffer {
  const pieces: Buffer[] = [];
  let previous = seed ?? '';
  const sign = (kind: string, ...rest: string[]) =>
    (previous = signText(
      signer,
      [`AWS4-HMAC-SHA256-${kind}`, signer.time, scopeOf(signer), previous, ...rest].join('\n'),
    ));
  for (const chunk of [...chunks, '']) {
    const bytes = Buffer.from(chunk);
    const signature = seed === null ? '' : `;chunk-signature=${sign('PAYLOAD', sha256(''), sha256(bytes))}`;
    pieces.push(Buffer.from(`${bytes.length.toString(16)}${signature}\r\n`), bytes);
    if (bytes.length > 0) pieces.push(Buffer.from('\r\n'));
  }
  if (trailers) {
    const lines = Object.entries(trailers).map(([name, value]) => `${name}:${value}`);
    pieces.push(Buffer.from(lines.map((line) => `${line}\r\n`).join('')));
    if (seed !== null) {
      const signature = sign('TRAILER', sha256(lines.map((line) => `${line}\n`).join('')));
      pieces.push(Buffer.from(`x-amz-trailer-signature:${signature}\r\n`));
    }
  }
  return Buffer.concat([...pieces, Buffer.from('\r\n')]);
}
