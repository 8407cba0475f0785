import { ApiError, type PortalClient } from '@granary/client';
import { Random } from '../testing/random.ts';

/** One change a worker makes: the call, and what holds once it has been acknowledged. */
interface Operation {
  readonly name: string;
  call(client: PortalClient): Promise<unknown>;
  apply(): void;
}

interface ModelArray {
  status: 'created' | 'hibernated' | 'deleted' | 'purged';
  drives: number;
  publicIp: boolean;
}

const ARRAYS_MAX = 2;

/**
 * What one worker did to things only it touches, so that the truth is known: everything acknowledged, and at most
 * one change whose outcome is unknown.
 */
export class PortalWorker {
  readonly #prefix: string;
  readonly #random: Random;
  readonly #ids: { providerId: number; tenantId: number };
  readonly #groups = new Map<string, number | undefined>();
  readonly #users = new Map<string, boolean>();
  readonly #networks = new Set<string>();
  readonly #arrays = new Map<string, ModelArray>();
  #price: string | undefined;
  #counter = 0;
  /** The change that was under way when the connection broke. */
  #open: Operation | undefined;
  acknowledged = 0;

  constructor(prefix: string, random: Random, ids: { providerId: number; tenantId: number }) {
    this.#prefix = prefix;
    this.#random = random;
    this.#ids = ids;
  }

  /** Makes changes until the connection breaks or `count` are done. */
  async run(client: PortalClient, count: number): Promise<void> {
    for (let made = 0; made < count;) {
      const operation = await this.#choose(client);
      if (!operation) continue;
      made += 1;
      this.#open = operation;
      try {
        await operation.call(client);
      } catch (error) {
        // A refusal is an answer: nothing changed. Anything else leaves the change in doubt.
        if (!(error instanceof ApiError) || error.status >= 500) return;
        this.#open = undefined;
        continue;
      }
      operation.apply();
      this.acknowledged += 1;
      this.#open = undefined;
    }
  }

  /** Compares the portal with the model; a change in doubt may have happened or not. Returns what is wrong. */
  async verify(client: PortalClient): Promise<string[]> {
    const without = await this.#differences(client);
    if (without.length === 0 || !this.#open) return without;
    this.#open.apply();
    const withIt = await this.#differences(client);
    return withIt.length === 0 ? [] : [`in doubt: ${this.#open.name}`, ...without, ...withIt];
  }

  async #differences(client: PortalClient): Promise<string[]> {
    const problems: string[] = [];
    const expect = (what: string, found: unknown, wanted: unknown) => {
      if (JSON.stringify(found) !== JSON.stringify(wanted))
        problems.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
    };
    const mine = <T>(items: readonly T[], name: (item: T) => string) =>
      items.filter((item) => name(item).startsWith(this.#prefix));
    const groups = mine((await client.providerGroups.list()).data.provider_groups, ({ name }) => name);
    expect('groups', groups.map(({ name }) => name).sort(), [...this.#groups.keys()].sort());
    const users = mine((await client.users.list()).data, ({ username }) => username);
    expect(
      'users',
      Object.fromEntries(users.map((user) => [user.username, user.auto_approved])),
      Object.fromEntries(this.#users),
    );
    const networks = mine((await client.virtualNetworks.list()).data, ({ name }) => name);
    expect('networks', networks.map(({ name }) => name).sort(), [...this.#networks].sort());
    if (this.#price !== undefined && this.#prefix.startsWith('w0')) {
      const table = (await client.pricing.get()).data.io_engines[`provider${this.#ids.providerId}`];
      expect('price', table?.data[engineKey]?.value, this.#price);
    }
    const arrays = mine((await client.arrays.list()).data, ({ name }) => name);
    const inState = (wanted: (status: ModelArray['status']) => boolean) =>
      [...this.#arrays].filter(([, { status }]) => wanted(status));
    const kept = mine((await client.arrays.list({ restorable: true })).data, ({ name }) => name);
    expect(
      'deleted arrays',
      kept.map(({ name }) => name).sort(),
      inState((status) => status === 'deleted')
        .map(([name]) => name)
        .sort(),
    );
    const wanted = inState((status) => status === 'created' || status === 'hibernated');
    expect(
      'arrays',
      Object.fromEntries(arrays.map((array) => [array.name, `${array.status} ${array.drive_count}`]).sort()),
      Object.fromEntries(wanted.map(([name, { status, drives }]) => [name, `${status} ${drives}`]).sort()),
    );
    return problems;
  }

  async #choose(client: PortalClient): Promise<Operation | undefined> {
    const makers = [
      () => this.#addGroup(),
      () => this.#removeGroup(client),
      () => this.#addUser(),
      () => this.#changeUser(client),
      () => this.#addNetwork(),
      () => this.#setPrice(),
      () => this.#addArray(),
      () => this.#moveArray(client),
      () => this.#growArray(client),
    ];
    return this.#random.pick(makers)?.();
  }

  #name(): string {
    this.#counter += 1;
    return `${this.#prefix}-${this.#counter}`;
  }

  #addGroup(): Operation {
    const name = this.#name();
    return {
      name: `add group ${name}`,
      call: (client) => client.providerGroups.create({ name }),
      apply: () => this.#groups.set(name, undefined),
    };
  }

  async #removeGroup(client: PortalClient): Promise<Operation | undefined> {
    const name = this.#random.pick([...this.#groups.keys()]);
    if (name === undefined) return undefined;
    const id = await found(
      client.providerGroups.list(),
      ({ data }) => data.provider_groups.find((group) => group.name === name)?.id,
    );
    if (id === undefined) return undefined;
    return {
      name: `remove group ${name}`,
      call: () => client.providerGroups.delete({ id: Number(id) }),
      apply: () => this.#groups.delete(name),
    };
  }

  #addUser(): Operation {
    const username = this.#name();
    return {
      name: `add user ${username}`,
      call: (client) =>
        client.users.create({ username, password: 'a long password', role: 'user', auto_approved: false }),
      apply: () => this.#users.set(username, false),
    };
  }

  async #changeUser(client: PortalClient): Promise<Operation | undefined> {
    const username = this.#random.pick([...this.#users.keys()]);
    if (username === undefined) return undefined;
    const id = await found(client.users.list(), ({ data }) => data.find((user) => user.username === username)?.id);
    if (id === undefined) return undefined;
    const approved = !(this.#users.get(username) ?? false);
    return {
      name: `change user ${username}`,
      call: () => client.users.update({ id, auto_approved: approved }),
      apply: () => this.#users.set(username, approved),
    };
  }

  #addNetwork(): Operation {
    const name = this.#name();
    const worker = Number(/\d/.exec(this.#prefix)?.[0] ?? 0);
    const cidr = `10.${worker + 10 * this.#round}.${this.#counter % 256}.0/24`;
    return {
      name: `add network ${name}`,
      call: (client) =>
        client.virtualNetworks.create({ name, provider_id: this.#ids.providerId, tenant_id: this.#ids.tenantId, cidr }),
      apply: () => this.#networks.add(name),
    };
  }

  get #round(): number {
    return Number(/r(\d+)/.exec(this.#prefix)?.[1] ?? 0) % 25;
  }

  /** Only the first worker sets it, so that the last one acknowledged is known. */
  #setPrice(): Operation | undefined {
    if (!this.#prefix.startsWith('w0')) return undefined;
    const price = `0.${String(1000 + this.#random.below(8999))}1`;
    return {
      name: `set price ${price}`,
      call: (client) =>
        client.providers.setFlavorPrice({ provider_id: this.#ids.providerId, flavor_key: engineKey, price }),
      apply: () => {
        this.#price = price;
      },
    };
  }

  #addArray(): Operation | undefined {
    if ([...this.#arrays.values()].filter(({ status }) => status !== 'purged').length >= ARRAYS_MAX) return undefined;
    const name = this.#name();
    return {
      name: `order array ${name}`,
      call: (client) =>
        client.arrays.create({ name, moderate: false, provider: 'local', engine: engineKey, drives: { SSD_10GB: 2 } }),
      apply: () => this.#arrays.set(name, { status: 'created', drives: 2, publicIp: false }),
    };
  }

  async #moveArray(client: PortalClient): Promise<Operation | undefined> {
    const picked = await this.#pickArray(client);
    if (!picked) return undefined;
    const { id, name, model } = picked;
    const moves = {
      created: ['hibernate', 'delete'],
      hibernated: ['restore', 'delete'],
      deleted: ['undelete', 'purge'],
      purged: [],
    } as const;
    const move = this.#random.pick(moves[model.status]) ?? 'delete';
    const after = {
      restore: 'created',
      hibernate: 'hibernated',
      delete: 'deleted',
      undelete: 'created',
      purge: 'purged',
    } as const;
    return {
      name: `${move} ${name}`,
      call: () => client.arrays[move]({ array_id: id }),
      apply: () => {
        model.status = after[move];
      },
    };
  }

  async #growArray(client: PortalClient): Promise<Operation | undefined> {
    const picked = await this.#pickArray(client);
    if (picked?.model.status !== 'created' || picked.model.drives > 4) return undefined;
    const { id, name, model } = picked;
    return {
      name: `grow ${name}`,
      call: () => client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1 } }),
      apply: () => {
        model.drives += 1;
      },
    };
  }

  async #pickArray(client: PortalClient): Promise<{ id: number; name: string; model: ModelArray } | undefined> {
    const there = [...this.#arrays].filter(([, { status }]) => status !== 'purged');
    const [name, model] = this.#random.pick(there) ?? [];
    if (name === undefined || !model) return undefined;
    const restorable = model.status === 'deleted';
    const id = await found(client.arrays.list({ name, restorable }), ({ data }) => data[0]?.id ?? undefined);
    return id === undefined ? undefined : { id, name, model };
  }
}

let engineKey = '';

/** The engine all orders name. */
export function orderWith(key: string): void {
  engineKey = key;
}

/** A look before an act: if it breaks, so will the act. */
async function found<T, F>(answer: Promise<T>, pick: (value: T) => F | undefined): Promise<F | undefined> {
  try {
    return pick(await answer);
  } catch {
    return undefined;
  }
}
