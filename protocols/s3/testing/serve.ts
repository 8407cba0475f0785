import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller, DataContext, RequestRecord } from '../../objects/context.ts';
import { createS3 } from '../index.ts';
import { S3Client, type Keys } from './client.ts';
import { tempStore } from './temp-store.ts';

export interface Served {
  readonly origin: string;
  readonly context: DataContext;
  /** Of every request that was answered. */
  readonly records: RequestRecord[];
  /** What went wrong that was no fault of a caller. */
  readonly errors: unknown[];
  /** Signs as one of the users; null: requests are not signed. */
  as(person: keyof typeof PEOPLE | null): S3Client;
  close(): Promise<void>;
}

/** Two users of one account, and one each of two others. */
export const PEOPLE = {
  ada: person('a'.repeat(32), 'library', '1'.repeat(32), 'ada', 'account_admin'),
  ben: person('a'.repeat(32), 'library', '2'.repeat(32), 'ben', 'member'),
  eve: person('e'.repeat(32), 'elsewhere', '3'.repeat(32), 'eve', 'account_admin'),
  fay: person('f'.repeat(32), 'farther', '4'.repeat(32), 'fay', 'account_admin'),
} as const;

function person(account: string, accountName: string, user: string, username: string, role: Caller['role']) {
  const keys: Keys = { access: `key-of-${username}`, secret: `secret-of-${username}` };
  return { caller: { account, accountName, user, username, role } satisfies Caller, keys };
}

/** S3 over a real store and real HTTP, on a port of the system's choice. */
export async function serve(options: { readonly encrypted?: boolean } = {}): Promise<Served> {
  const temporary = await tempStore(options);
  const { store } = temporary;
  const records: RequestRecord[] = [];
  const errors: unknown[] = [];
  let origin = '';
  const context: DataContext = {
    store,
    directory: {
      byS3Key: (access) => {
        const found = Object.values(PEOPLE).find(({ keys }) => keys.access === access);
        return found === undefined ? { refused: 'unknown' } : { caller: found.caller, secret: found.keys.secret };
      },
      byToken: () => ({ refused: 'unknown' }),
      signIn: () => Promise.resolve({ refused: 'unknown' }),
      account: (id) => {
        const found = Object.values(PEOPLE).find(({ caller }) => caller.account === id);
        if (found === undefined) return undefined;
        return { id, name: found.caller.accountName, enabled: true, createdAt: 0, metadata: {} };
      },
      notificationSecret: (seed) => `secret of ${seed}`,
      accountsByMail: (email) => [
        ...new Set(
          Object.values(PEOPLE)
            .filter(({ caller }) => [`${caller.username}@example.org`, `all@example.org`].includes(email))
            .map(({ caller }) => caller.account),
        ),
      ],
      setAccountMetadata: () => Promise.resolve(),
    },
    settings: () => ({
      arrayName: 'vsa-00000001',
      region: 'us-east-1',
      hosts: ['localhost'],
      virtualHosted: false,
      accountNames: false,
      adminAccess: false,
      publicUrl: origin,
      destinations: { 'obsdst-00000001': [PEOPLE.ada.caller.account] },
    }),
    now: () => Date.now(),
    mayChange: () => true,
    done: (record) => records.push(record),
    onError: (error) => errors.push(error),
  };
  const listener = createS3(context);
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  server.on('checkContinue', listener).on('checkExpectation', listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: S3Client[] = [];
  return {
    origin,
    context,
    records,
    errors,
    as(name) {
      const client = new S3Client(origin, name === null ? null : PEOPLE[name].keys);
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await temporary.close();
    },
  };
}
