import { badParameter, fail } from '@granary/kernel';
import { readProxy } from '../outgoing/places.ts';
import { nextName } from '../sequences/repository.ts';
import type { ArrayTools } from '../tools.ts';
import { locateBucket } from './locate.ts';
import { countDestinations, insertDestination, isNameTaken, listDestinations } from './repository.ts';
import type { Destination } from './destination.ts';

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
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** Buckets the array may use. Each was there, and open to the key given, when it was made known. */
export class ObjectStorageDestinationService {
  readonly #tools: ArrayTools;

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  list(start: number, limit: number): { destinations: Destination[]; count: number } {
    return this.#tools.store.read((db) => ({
      destinations: listDestinations(db, start, limit),
      count: countDestinations(db),
    }));
  }

  async create(request: DestinationRequest, actor: string): Promise<Destination> {
    const { store, vault, clock, events } = this.#tools;
    if (!BUCKET.test(request.bucket))
      throw badParameter('bucket', 'must be lower-case letters, digits, dots and dashes, as buckets are named');
    const { proxyhost: host, proxyport: port, proxyuser: user, proxypassword: password } = request;
    const proxy = readProxy({ host, port, user, password });
    store.read((db) => {
      if (isNameTaken(db, request.name)) throw fail('name_taken', { name: request.name });
    });
    const { configuration } = this.#tools;
    await locateBucket({ ...request, proxy, trusted: configuration().tls?.cert });
    return store.write((tx) => {
      if (isNameTaken(tx, request.name)) throw fail('name_taken', { name: request.name });
      if (countDestinations(tx) >= DESTINATIONS_MAX) throw fail('buckets_limit', { max: DESTINATIONS_MAX });
      const now = clock.now();
      const destination: Destination = {
        name: nextName(tx, 'obsdst'),
        displayName: request.name,
        type: request.type,
        bucket: request.bucket,
        endpoint: request.endpoint,
        username: request.username,
        password: vault.seal(request.password),
        connectVia: request.connectVia,
        allowsLifecyclePolicies: request.allow_lifecycle_policies,
        proxy: proxy && vault.seal(JSON.stringify(proxy)),
        proxyHost: proxy?.host ?? null,
        proxyPort: proxy?.port ?? null,
        createdAt: now,
        modifiedAt: now,
      };
      insertDestination(tx, destination);
      const title = `Bucket ${destination.bucket} at ${destination.endpoint} was made known as ${destination.displayName} (${destination.name}).`;
      events.record(tx, { title, subject: `object_storage_destination:${destination.name}`, actor });
      return destination;
    });
  }
}
