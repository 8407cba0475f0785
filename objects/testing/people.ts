import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { createApiServer, createLog, EventLog, Jobs, ManualClock, Store, Vault } from '@granary/kernel';
import type { Arguments, Commit } from '@granary/storage/object-store';
import { temporaryFolder } from '../../testing/folders.ts';
import { CheckedClient } from '../../kernel/process/testing/checked-client.ts';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { authenticator } from '../access.ts';
import { DelegatedKeyService } from '../delegated-keys/service.ts';
import { migrations } from '../migrations.ts';
import { createPeople } from '../people.ts';
import { peopleSettingRoutes } from '../settings/people-routes.ts';
import { ArraySettings } from '../settings/service.ts';
import type { AccountFigures } from '../tools.ts';

const { users, accounts } = objectsApi.groups;

export const owner = { account: 'objs_admin', user: 'dana', password: 'first passcode' };
export const PASSWORD = 'Pick-Your-0wn';
export const PUBLIC_URL = 'http://192.0.2.1:8080';

/** What the object store would know and do: objects by account, gone a few at a time. */
class FakeStore implements AccountFigures {
  readonly objects = new Map<string, number>();
  readonly steps: Arguments<'purgeAccount'>[] = [];
  /** How many a step takes; 0 holds it up. */
  perStep = 1_000;
  /** Steps wait until it resolves. */
  gate: Promise<void> = Promise.resolve();

  usage(account: string) {
    const objects = this.objects.get(account) ?? 0;
    return { buckets: objects > 0 ? 1 : 0, objects, bytes: objects * 2 ** 20, policies: [] };
  }

  readonly commit: Commit = (async (operation: string, args: Arguments<'purgeAccount'>) => {
    if (operation !== 'purgeAccount') throw new Error(`${operation} is not for these tests`);
    await this.gate;
    this.steps.push(args);
    const before = this.objects.get(args.account) ?? 0;
    const removed = Math.min(before, this.perStep);
    this.objects.set(args.account, before - removed);
    return { removed, done: removed === before };
  }) as Commit;
}

/** Accounts and users over real HTTP, with a clock that tests move. */
export async function startPeople(t: TestContext) {
  const folder = temporaryFolder(t);
  const configuration = testConfiguration(folder, { engine: null, cacheGb: 0 });
  const clock = new ManualClock('2026-11-16T12:00:00Z');
  const data = new FakeStore();
  const lines: string[] = [];
  const log = createLog('test', 'debug', { write: (line: string) => void lines.push(line) });
  let epoch = 0;
  let running = await bringUp();
  t.after(() => running.stop());

  async function bringUp() {
    const store = new Store(join(folder, 'objects.db'), migrations);
    const tools = {
      store,
      vault: new Vault(Buffer.from(configuration.vaultKey, 'hex')),
      clock,
      events: new EventLog(clock),
      jobs: new Jobs({ store, clock, log }),
      log,
      changed: () => void (epoch += 1),
      commit: data.commit,
      figures: data,
      publicUrls: () => [PUBLIC_URL, 'http://198.51.100.1:8080'],
      configuration: () => configuration,
    };
    const settings = new ArraySettings(tools);
    const people = createPeople(tools, settings);
    const delegatedKeys = new DelegatedKeyService(tools);
    await settings.create();
    await people.users.createOwner(configuration.owner, configuration.initialPasscode);
    const app = await createApiServer({
      ...tools,
      api: objectsApi,
      handlers: { ...people.handlers, settings: { ...people.handlers.settings, ...peopleSettingRoutes(settings) } },
      authenticate: authenticator(
        people.signIns,
        { sessions: people.sessions, delegated: delegatedKeys.keys },
        () => configuration,
      ),
      onReveal: (actor, what) => people.recordLook(actor, what),
      version: '0.0.0-test',
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    await tools.jobs.start();
    people.start();
    return {
      url,
      store,
      tools,
      settings,
      people,
      async stop() {
        await app.close();
        await people.stop();
        await tools.jobs.stop();
        store.close();
      },
    };
  }

  const anonymous = () => new CheckedClient(objectsApi, running.url);
  const keyed = (key: string | null) => anonymous().with({ 'x-access-key': key ?? '' });
  const signIn = (account: string, user: string, password = PASSWORD) =>
    anonymous()
      .call(users.authenticate, { account, user, password })
      .then(({ user: found }) => found);
  const { access_key: ownerKey } = await signIn(owner.account, owner.user, owner.password);

  return {
    clock,
    data,
    lines,
    configuration,
    get url() {
      return running.url;
    },
    get store() {
      return running.store;
    },
    get settings() {
      return running.settings;
    },
    get people() {
      return running.people;
    },
    get tools() {
      return running.tools;
    },
    /** How often the data path was notified of changed users or accounts. */
    get epoch() {
      return epoch;
    },
    anonymous,
    keyed,
    signIn,
    admin: () => keyed(ownerKey),
    /** An account with its first administrator, signed in. */
    async account(name: string, username = 'ada') {
      const { count: id } = await keyed(ownerKey).call(accounts.create, { name });
      return { id, name, ...(await this.user(id, username, 'account_admin')) };
    },
    /** A user with a password, signed in. */
    async user(accountId: string, username: string, role: 'objs_admin' | 'account_admin' | 'member' = 'member') {
      const email = `${username}@example.org`;
      const { code } = await keyed(ownerKey).call(users.create, { username, email, account_id: accountId, role });
      await anonymous().call(users.usePasswordCode, { username, account: accountId, code, new_password: PASSWORD });
      const user = await signIn(accountId, username);
      return { user, client: keyed(user.access_key) };
    },
    /** Of events, the newest first; of those about one subject where it is named. */
    titles: (subject?: string) =>
      running.store
        .read((db) => running.tools.events.list(db, { ...(subject && { subject }), start: 0, limit: 0 }))
        .messages.map(({ msg_title }) => msg_title),
    /** What is in the outbox, oldest first. */
    outbox: () => {
      const place = join(folder, 'outbox');
      try {
        return readdirSync(place)
          .filter((name) => name.endsWith('.eml'))
          .sort()
          .map((name) => readFileSync(join(place, name), 'utf8'));
      } catch {
        return [];
      }
    },
    restart: async () => {
      await running.stop();
      running = await bringUp();
    },
  };
}
