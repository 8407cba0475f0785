import { RemoteBucket, RemoteS3 } from '@granary/protocols/s3/client';
import { RoutedAgent } from '../outgoing/http.ts';
import type { Proxy } from '../outgoing/link.ts';
import type { ArrayTools } from '../tools.ts';
import { hostOf, locateBucket } from './locate.ts';
import { findDestinationAt } from './repository.ts';
import type { Destination } from './destination.ts';

/** The buckets the array writes to and reads from, over connections that are kept. */
export class DestinationBuckets {
  readonly #tools: ArrayTools;
  readonly #remotes = new Map<string, Promise<RemoteS3>>();

  constructor(tools: ArrayTools) {
    this.#tools = tools;
  }

  /** Rejects with `remote_unreachable` where it does not answer. */
  async open(destination: Destination, signal?: AbortSignal): Promise<RemoteBucket> {
    const { name, bucket } = destination;
    let remote = this.#remotes.get(name);
    if (!remote) {
      remote = this.#connect(destination);
      this.#remotes.set(name, remote);
      // Asked again next time.
      remote.catch(() => this.#remotes.delete(name));
    }
    return new RemoteBucket(await remote, bucket, signal);
  }

  /** One that is called so here, and known to this array by whatever name. */
  find(reference: string): Destination | undefined {
    return this.#tools.store.read((db) => findDestinationAt(db, reference));
  }

  /** It may have moved: its route is resolved again. */
  drop({ name }: Destination): void {
    const remote = this.#remotes.get(name);
    this.#remotes.delete(name);
    void remote?.then((open) => open.close()).catch(() => undefined);
  }

  close(): void {
    for (const remote of this.#remotes.values()) void remote.then((open) => open.close()).catch(() => undefined);
    this.#remotes.clear();
  }

  async #connect(destination: Destination): Promise<RemoteS3> {
    const { vault, configuration } = this.#tools;
    const password = vault.unseal(destination.password);
    const proxy = destination.proxy === null ? null : (JSON.parse(vault.unseal(destination.proxy)) as Proxy);
    const trusted = configuration().tls?.cert;
    const { route, region } = await locateBucket({ ...destination, password, proxy, trusted });
    const identity = { accessKey: destination.username, secret: password, region };
    const url = `${route.isTls ? 'https' : 'http'}://${hostOf(route)}`;
    return new RemoteS3({ ...identity, url, address: route.host }, { agent: new RoutedAgent(route) });
  }
}

/** The same on every array that knows the bucket. */
export function referenceOf({ endpoint, bucket }: Pick<Destination, 'endpoint' | 'bucket'>): string {
  return `${endpoint}/${bucket}`;
}
