import { badParameter, fail } from '@granary/kernel';
import { HttpClient } from '../outgoing/http.ts';
import type { Proxy, Route } from '../outgoing/link.ts';
import { firstThatAnswers, readPlace, readProxy } from '../outgoing/places.ts';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import {
  countDestinations,
  insertDestination,
  isNameTaken,
  listDestinations,
  type DestinationRow,
} from './repository.ts';
import { signedHeaders } from './signature.ts';

export interface DestinationRequest {
  readonly name: string;
  readonly bucket: string;
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly type: string;
  readonly connectVia: 'fe' | 'public';
  readonly allow_lifecycle_policies: boolean;
  readonly proxyhost?: string | undefined;
  readonly proxyport?: number | undefined;
  readonly proxyuser?: string | undefined;
  readonly proxypassword?: string | undefined;
}

const DESTINATIONS_MAX = 100;
const ANSWER_MS_MAX = 10_000;
const FIRST_REGION = 'us-east-1';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Buckets the array may use. Each was there, and open to the key given, when it was made known. */
export class ObjectStorageDestinations {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  list(start: number, limit: number): { rows: DestinationRow[]; count: number } {
    return this.#tools.store.read((db) => ({ rows: listDestinations(db, start, limit), count: countDestinations(db) }));
  }

  async create(request: DestinationRequest, actor: string): Promise<DestinationRow> {
    const { store, vault, clock, events } = this.#tools;
    if (!BUCKET.test(request.bucket))
      throw badParameter('bucket', 'must be lower-case letters, digits, dots and dashes, as buckets are named');
    const { proxyhost: host, proxyport: port, proxyuser: user, proxypassword: password } = request;
    const proxy = readProxy({ host, port, user, password });
    store.read((db) => {
      if (isNameTaken(db, request.name)) throw fail('name_taken', { name: request.name });
    });
    await this.#check(request, proxy);
    return store.write((tx) => {
      if (isNameTaken(tx, request.name)) throw fail('name_taken', { name: request.name });
      if (countDestinations(tx) >= DESTINATIONS_MAX)
        throw fail('limit_reached', { problem: `An array knows at most ${DESTINATIONS_MAX} buckets.` });
      const now = clock.now();
      const row: DestinationRow = {
        name: nextName(tx, 'obsdst'),
        display_name: request.name,
        type: request.type,
        bucket: request.bucket,
        endpoint: request.endpoint,
        username: request.username,
        password: vault.seal(request.password),
        connect_via: request.connectVia,
        allow_lifecycle_policies: request.allow_lifecycle_policies ? 1 : 0,
        proxy: proxy && vault.seal(JSON.stringify(proxy)),
        proxy_host: proxy?.host ?? null,
        proxy_port: proxy?.port ?? null,
        created_at: now,
        modified_at: now,
      };
      insertDestination(tx, row);
      const title = `Bucket ${row.bucket} at ${row.endpoint} was made known as ${row.display_name} (${row.name}).`;
      events.record(tx, { title, subject: `object_storage_destination:${row.name}`, actor });
      return row;
    });
  }

  async #check(request: DestinationRequest, proxy: Proxy | null): Promise<void> {
    const trusted = this.#tools.configuration().tls?.cert;
    const { host, port } = readPlace('endpoint', request.endpoint);
    const places = [
      { host, port: port ?? 443, isTls: true },
      { host, port: port ?? 80, isTls: false },
    ];
    const routes = places.map((place) => ({ ...place, proxy, trusted }));
    await firstThatAnswers(request.endpoint, routes, (route) => this.#look(request, route, FIRST_REGION));
  }

  /** Asks for the bucket, signed. The secret itself never travels. */
  async #look(request: DestinationRequest, route: Route, region: string): Promise<void> {
    const http = new HttpClient(route);
    try {
      const path = `/${request.bucket}`;
      const host = route.port === (route.isTls ? 443 : 80) ? route.host : http.address;
      const signed = { method: 'HEAD', host, path, query: '', region, atMs: this.#tools.clock.now() };
      const headers = signedHeaders(signed, { keyId: request.username, secret: request.password });
      const answer = await http.send({ method: 'HEAD', path, headers, timeoutMs: ANSWER_MS_MAX });
      if (answer.status === 200) return;
      const elsewhere = answer.headers['x-amz-bucket-region'];
      if (typeof elsewhere === 'string' && elsewhere !== region && region === FIRST_REGION) {
        await this.#look(request, route, elsewhere);
        return;
      }
      throw fail('remote_unreachable', { address: request.endpoint, reason: reasonFor(answer.status, request.bucket) });
    } finally {
      http.close();
    }
  }
}

function reasonFor(status: number, bucket: string): string {
  if (status === 403 || status === 401) return 'it refused the access key; check username and password';
  if (status === 404) return `there is no bucket ${bucket}`;
  return `it answered HTTP ${status}`;
}
