import { operations, type Operation } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import { askedOf, usualEncoding, type Values } from '../../kernel/http/testing/encodings.ts';
import { wireTo, type Received, type Send, type Sent } from '../../kernel/process/testing/wire.ts';
import { servedOperations } from '../served.ts';
import { testObjects, type Lasting, type ObjectsTestClient, type Person, type TestObjects } from './test-objects.ts';

const served = new Set(servedOperations());

/** Every operation that object storage serves. */
export const objectsOperations: readonly Operation[] = operations(objectsApi).filter(({ id }) => served.has(id));

interface How extends Pick<Sent, 'from'> {
  readonly accept?: string;
}

interface People {
  /** Administers the account that things are made in. */
  readonly accountAdmin: Person;
  readonly member: Person;
  /** Administers another account. */
  readonly stranger: Person;
}

/** An array that the tests of a file share, with everything an operation may need within reach. */
export async function startWalk(file: Lasting): Promise<Walk> {
  // Whatever a single test starts for others lasts as long as the file.
  const ends: (() => Promise<void> | void)[] = [];
  const t: Lasting = { after: (end) => ends.unshift(end) };
  file.after(async () => {
    for (const end of ends) await end();
  });
  const objects = await testObjects(t);
  const [home, elsewhere] = [await objects.account('webhosting'), await objects.account('elsewhere')];
  return new Walk(t, objects, {
    accountAdmin: await objects.user(home, 'ada', 'account_admin'),
    member: await objects.user(home, 'mo', 'member'),
    stranger: await objects.user(elsewhere, 'eve', 'account_admin'),
  });
}

export class Walk {
  readonly t: Lasting;
  readonly objects: TestObjects;
  readonly people: People;
  readonly #send: Send;
  readonly #kept = new Map<string, Promise<unknown>>();
  #names = 0;

  constructor(t: Lasting, objects: TestObjects, people: People) {
    this.t = t;
    this.objects = objects;
    this.people = people;
    this.#send = wireTo(objects.url, (close) => t.after(close));
  }

  get admin(): Person {
    return this.objects.owner;
  }

  get client(): ObjectsTestClient {
    return this.objects.client;
  }

  get api(): typeof objectsApi.groups {
    return objectsApi.groups;
  }

  /** Id of the account that things are made in. */
  get home(): string {
    return this.people.accountAdmin.accountId;
  }

  /** One no other thing has. */
  name(what: string): string {
    this.#names += 1;
    return `${what}-${this.#names}`;
  }

  /** Made at the first call, the same ever after. */
  kept<T>(what: string, make: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(what) as Promise<T> | undefined;
    if (known) return known;
    const fresh = make();
    this.#kept.set(what, fresh);
    return fresh;
  }

  /** With the key, if there is one. */
  send(sent: Sent, key?: string): Promise<Received> {
    const headers = { ...sent.headers, ...(key !== undefined && { 'x-access-key': key }) };
    return this.#send({ ...sent, headers });
  }

  ask(operation: Operation, values: Values, key?: string, how: How = {}): Promise<Received> {
    const { accept = 'application/json', ...more } = how;
    const asked = askedOf(operation, values, usualEncoding(operation));
    return this.send({ ...asked, ...more, headers: { ...asked.headers, accept } }, key);
  }
}

/** The status of a reply in JSON, wherever it stands; one that has none is a success. */
export function statusOf({ text }: Received): { readonly code: number; readonly message: string } {
  if (!text.startsWith('{')) return { code: 0, message: '' };
  const body = JSON.parse(text) as Record<string, unknown>;
  const inner = ('status' in body ? body : (body['response'] ?? {})) as {
    readonly status?: number;
    readonly message?: string;
    readonly status_msg?: string;
  };
  return { code: inner.status ?? 0, message: inner.message ?? inner.status_msg ?? '' };
}
