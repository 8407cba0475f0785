import { once } from 'node:events';
import { createServer, request as send, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccountState, Caller, DataContext, DataSettings, RequestRecord } from '../../objects/context.ts';
import { createSwift } from '../server.ts';
import { openTestStore, type TestStore } from './store.ts';

export const ALPHA = 'a'.repeat(32);
export const BETA = 'b'.repeat(32);
const SYSTEM = 'f'.repeat(32);

interface Person {
  readonly caller: Caller;
  readonly password: string;
  readonly token: string;
}

function person(account: string, accountName: string, username: string, role: Caller['role']): Person {
  const user = Buffer.from(username.padEnd(16, '.')).toString('hex');
  return { caller: { account, accountName, user, username, role }, password: 'secret', token: `tk-${username}` };
}

const PEOPLE = [
  person(ALPHA, 'alpha', 'ann', 'account_admin'),
  person(ALPHA, 'alpha', 'mia', 'member'),
  person(BETA, 'beta', 'bob', 'member'),
  person(BETA, 'beta', 'bea', 'account_admin'),
  person(SYSTEM, 'objs_admin', 'root', 'objs_admin'),
];

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  /** Null sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface SwiftFixture {
  readonly store: TestStore;
  readonly url: string;
  readonly port: number;
  readonly records: RequestRecord[];
  readonly errors: unknown[];
  /** The last request that came in. */
  lastRequest: IncomingMessage | undefined;
  settings: DataSettings;
  /** Milliseconds that the clock is ahead. */
  ahead: number;
  mayChange: boolean;
  readonly disabled: Set<string>;
  /** A path below ALPHA's account, or an absolute one beginning with `/v` or `/auth`. */
  ask(path: string, ask?: Ask): Promise<Reply>;
  put(path: string, body: string | Uint8Array, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  close(): Promise<void>;
}

export async function serveSwift(): Promise<SwiftFixture> {
  const store = await openTestStore();
  const metadata = new Map<string, Record<string, string>>();
  const server = createServer({ keepAliveTimeout: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  function account(idOrName: string): AccountState | undefined {
    const found = PEOPLE.find(({ caller }) => caller.account === idOrName || caller.accountName === idOrName)?.caller;
    if (!found) return undefined;
    const kept = metadata.get(found.account) ?? {};
    const enabled = !fixture.disabled.has(found.account);
    return { id: found.account, name: found.accountName, enabled, createdAt: 1_700_000_000_000, metadata: kept };
  }

  const context: DataContext = {
    store,
    directory: {
      byS3Key: () => ({ refused: 'unknown' }),
      byToken: (token) => {
        const found = PEOPLE.find((each) => each.token === token);
        if (!found) return { refused: token === 'tk-old' ? 'expired' : 'unknown' };
        if (fixture.disabled.has(found.caller.account)) return { refused: 'account-disabled' };
        return { caller: found.caller, expiresAt: Date.now() + 3_600_000 };
      },
      signIn: async (name, username, password) => {
        const found = PEOPLE.find(({ caller }) => caller.accountName === name && caller.username === username);
        if (found?.password !== password) return { refused: 'unknown' };
        return { caller: found.caller, token: found.token, expiresAt: Date.now() + 3_600_000 };
      },
      account,
      accountsByMail: () => [],
      notificationSecret: (seed) => `secret of ${seed}`,
      setAccountMetadata: async (id, changes) => {
        const kept = { ...metadata.get(id) };
        for (const [name, value] of Object.entries(changes)) {
          if (value === null) Reflect.deleteProperty(kept, name);
          else kept[name] = value;
        }
        metadata.set(id, kept);
      },
    },
    settings: () => fixture.settings,
    now: () => Date.now() + fixture.ahead,
    mayChange: () => fixture.mayChange,
    done: (record) => fixture.records.push(record),
    onError: (error) => fixture.errors.push(error),
  };
  const swift = createSwift(context);
  server.on('request', (request) => (fixture.lastRequest = request));
  server.on('request', swift);
  server.on('checkContinue', swift);

  const fixture: SwiftFixture = {
    store,
    url,
    port,
    records: [],
    errors: [],
    lastRequest: undefined,
    settings: {
      arrayName: 'array',
      region: 'here',
      hosts: [],
      virtualHosted: false,
      accountNames: false,
      adminAccess: false,
      publicUrl: url,
    },
    ahead: 0,
    mayChange: true,
    disabled: new Set(),
    ask: async (path, { method = 'GET', token = 'tk-ann', headers = {}, body } = {}) => {
      const absolute = /^\/(v[13]|auth|info|health)/.test(path) ? path : `/v1/AUTH_${ALPHA}${path}`;
      const own = token === null ? headers : { 'x-auth-token': token, ...headers };
      const request = send(url, { method, path: absolute, headers: own });
      request.end(body);
      const [response] = (await once(request, 'response')) as [
        NodeJS.ReadableStream & { statusCode: number; headers: IncomingHttpHeaders },
      ];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const whole = Buffer.concat(chunks);
      return { status: response.statusCode, headers: response.headers, body: whole, text: whole.toString() };
    },
    put: (path, body, headers) => fixture.ask(path, { method: 'PUT', body, headers: { ...headers } }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await store.close();
    },
  };
  return fixture;
}
