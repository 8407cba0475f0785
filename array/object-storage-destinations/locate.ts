import { fail } from '@granary/kernel';
import { HttpClient } from '../outgoing/http.ts';
import type { Proxy, Route } from '../outgoing/link.ts';
import { firstThatAnswers, readPlace } from '../outgoing/places.ts';
import { signedHeaders } from './signature.ts';

/** A bucket and the route to it, as the request names them. */
export interface NamedBucket {
  readonly bucket: string;
  readonly endpoint: string;
  /** Access key id. */
  readonly username: string;
  /** Secret access key. */
  readonly password: string;
  readonly proxy: Proxy | null;
  readonly trusted: string | undefined;
}

/** Where it answered. */
export interface LocatedBucket {
  readonly route: Route;
  readonly region: string;
}

const ANSWER_MS_MAX = 10_000;
const FIRST_REGION = 'us-east-1';

/** Asks for the bucket, encrypted if that can be, and learns which region it is in. */
export async function locateBucket(named: NamedBucket): Promise<LocatedBucket> {
  const { host, port } = readPlace('endpoint', named.endpoint);
  const places = [
    { host, port: port ?? 443, isTls: true },
    { host, port: port ?? 80, isTls: false },
  ];
  const { proxy, trusted } = named;
  const routes = places.map((place) => ({ ...place, proxy, trusted }));
  let region = FIRST_REGION;
  const route = await firstThatAnswers(named.endpoint, routes, async (each) => {
    region = await checkBucket(named, each, FIRST_REGION);
  });
  return { route, region };
}

/** What the service is called in the requests it is sent. */
export function hostOf({ host, port, isTls }: Route): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
}

/** Signed: the secret itself never travels. Returns its region. */
async function checkBucket(named: NamedBucket, route: Route, region: string): Promise<string> {
  const http = new HttpClient(route);
  try {
    const path = `/${named.bucket}`;
    const signed = { method: 'HEAD', host: hostOf(route), path, query: '', region, atMs: Date.now() };
    const headers = signedHeaders(signed, { keyId: named.username, secret: named.password });
    const answer = await http.send({ method: 'HEAD', path, headers, timeoutMs: ANSWER_MS_MAX });
    if (answer.status === 200) return region;
    const elsewhere = answer.headers['x-amz-bucket-region'];
    if (typeof elsewhere === 'string' && elsewhere !== region && region === FIRST_REGION) {
      return await checkBucket(named, route, elsewhere);
    }
    throw fail('remote_unreachable', { address: named.endpoint, reason: reasonFor(answer.status, named.bucket) });
  } finally {
    http.close();
  }
}

function reasonFor(status: number, bucket: string): string {
  if (status === 403 || status === 401) return 'it refused the access key; check username and password';
  if (status === 404) return `there is no bucket ${bucket}`;
  return `it answered HTTP ${status}`;
}
