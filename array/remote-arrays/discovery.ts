import { peerApi } from '@granary/contract/array';
import { fail, type GranaryError } from '@granary/kernel';
import { HttpClient } from '../outgoing/http.ts';
import type { Identity } from './identity.ts';
import type { Proxy, ProxyType, Route } from '../outgoing/link.ts';
import { firstThatAnswers, readPlace, readProxy, type Place } from '../outgoing/places.ts';
import { newAgreement } from './pair-keys.ts';
import { PeerLink, PeerRefusal } from './peer-link.ts';
import type { Source } from '../outgoing/source.ts';

export interface DiscoverRequest {
  readonly ip: string;
  readonly user: string;
  readonly password: string;
  readonly interface: 'public' | 'vni0' | 'fe';
  readonly proxyhost?: string | undefined;
  readonly proxyport?: number | undefined;
  readonly proxytype?: ProxyType | undefined;
  readonly proxyusername?: string | undefined;
  readonly proxypassword?: string | undefined;
}

/** What this array itself is like: others are looked for likewise. */
export interface Own {
  readonly port: number;
  readonly certificate: string | undefined;
  readonly source: () => Source;
}

export interface Paired {
  readonly identity: Identity;
  readonly secret: Buffer;
}

const PROBE_MS_MAX = 5_000;

/** What a request means: where to look, in which order. Never in the clear where this array itself is secured. */
export function placesOf(ip: string, own: Pick<Own, 'port' | 'certificate'>): Place[] {
  const { host, port: given } = readPlace('ip', ip);
  const at = (port: number) => [
    { host, port, isTls: true },
    { host, port, isTls: false },
  ];
  const all =
    given !== undefined
      ? at(given)
      : [...at(own.port), { host, port: 443, isTls: true }, { host, port: 80, isTls: false }];
  return own.certificate === undefined ? all : all.filter(({ isTls }) => isTls);
}

export function proxyOf(request: DiscoverRequest): Proxy | null {
  return readProxy({
    type: request.proxytype,
    host: request.proxyhost,
    port: request.proxyport,
    user: request.proxyusername,
    password: request.proxypassword,
  });
}

/** The first place where an array answers. Nothing secret is sent to find out. */
export function findRoute(request: DiscoverRequest, own: Own): Promise<Route> {
  const proxy = proxyOf(request);
  const routes = placesOf(request.ip, own).map((place) => ({
    ...place,
    proxy,
    trusted: own.certificate,
    source: own.source,
  }));
  return firstThatAnswers(request.ip, routes, probe);
}

async function probe(route: Route): Promise<void> {
  const client = new HttpClient(route);
  try {
    const { status, body } = await client.send({ method: 'GET', path: '/healthz', timeoutMs: PROBE_MS_MAX });
    if (status !== 200 || !body.includes('"ok"')) throw new Error('it is no array');
  } finally {
    client.close();
  }
}

/** Signs in there and agrees on a secret by which both know each other from now on. */
export async function pair(route: Route, request: DiscoverRequest, self: Identity): Promise<Paired> {
  const link = new PeerLink(route);
  const { publicKey, agree } = newAgreement();
  const { is_encryption_active: _, ...identity } = self;
  try {
    const { user, password } = request;
    const answer = await link.call(peerApi.groups.peers.pair, { user, password, public_key: publicKey, ...identity });
    const secret = agree(answer.public_key);
    if (!secret) throw fail('remote_unreachable', { address: link.address, reason: 'its key is none' });
    return { identity: answer.array, secret };
  } catch (error) {
    throw signInError(error, link.address);
  } finally {
    link.close();
  }
}

const refusals: Partial<Record<GranaryError['entry'], string>> = {
  invalid_credentials: 'the user or the password is wrong',
  too_many_attempts: 'too many sign-ins failed there; try again later',
  not_allowed: 'the user must be an administrator there',
};

function signInError(error: unknown, address: string): unknown {
  if (!(error instanceof PeerRefusal)) return error;
  const reason = refusals[error.entry];
  return reason === undefined ? error : fail('remote_refused', { address, reason });
}
