import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { arrayClient } from '@granary/client';
import type { Api, Endpoint } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser, type SignIn } from './browser.ts';
import { ANN, startMarkedCloud, type MarkedCloud } from './marked-cloud.ts';
import { offersOf, type Offer } from './offered.ts';
import { listedPages } from './page-lists.ts';
import { below, openPath, walk, watchRequests } from './walking.ts';

/**
 * Goal: a person is offered nothing that would be refused.
 * Method: the pages of each service are opened as each of its roles; the operation of every button and of every item of a
 * menu is compared with the roles of the contract, and whose record it is where that decides. What the pages read
 * must not be refused either: the browser takes any refused request for a problem.
 */
const skip = await skipWithoutBrowser();

let folder: string;
let cloud: MarkedCloud;
let browser: ConsoleBrowser;

before(async () => {
  if (skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), 'granary-e2e-'));
  cloud = await startMarkedCloud(folder);
  browser = await launchBrowser();
});

after(async () => {
  if (skip !== false) return;
  await cloud.granary.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  await browser.close();
});

interface Visitor extends SignIn {
  readonly url: string;
  readonly service: 'portal' | 'array' | 'objects';
  readonly role: string;
  /** Names of records that the person created. */
  readonly created?: readonly string[];
}

const APIS: Readonly<Record<string, Api>> = { portal: portalApi, array: arrayApi, objects: objectsApi };

function endpointOf(operation: string): Endpoint {
  const [, api = '', group = '', name = ''] = /^(\w+) (\w+)\.(\w+)$/.exec(operation) ?? [];
  const endpoint = APIS[api]?.groups[group]?.[name];
  assert.ok(endpoint, `${operation} is an operation`);
  return endpoint;
}

/** Why the service would refuse it, if it would. */
function refusal({ operation, record }: Offer, { role, created = [] }: Visitor): string | undefined {
  const { access } = endpointOf(operation);
  if (access.roles === 'anyone') return undefined;
  if (!access.roles.includes(role)) return `is for ${access.roles.join(', ')}`;
  const isOthers = access.creator && record !== undefined && !created.includes(record);
  return isOthers && role !== 'admin' ? `is for the creator of ${record}` : undefined;
}

/** Everything that is offered to the person, and what of it would be refused. */
async function offered(
  visitor: Visitor,
): Promise<{ readonly all: readonly Offer[]; readonly refused: readonly string[] }> {
  const { url, service, role } = visitor;
  const { page } = await browser.person();
  watchRequests(page);
  await signIn(page, url, visitor);
  const [all, refused] = [[] as Offer[], new Set<string>()];
  // The menu shows those of the role; an address may be typed all the same, and then it is the page's own care.
  const pages = below('', await listedPages(service)).filter(({ roles }) => !roles || roles.includes(role));
  const visit = async ({ pattern }: { readonly pattern: string }) => {
    for (const offer of await offersOf(page)) {
      all.push(offer);
      const reason = refusal(offer, visitor);
      if (reason !== undefined) refused.add(`${pattern} offers “${offer.label}”, but ${offer.operation} ${reason}`);
    }
  };
  const unreached = await walk(page, pages, visit);
  // The pages of records that there are none of.
  assert.deepEqual(unreached.filter((pattern) => !pattern.includes('$')), []);
  return { all, refused: [...refused] };
}

const names = (offers: readonly Offer[]) => new Set(offers.map(({ operation }) => operation));

test('a user of the portal is offered nothing that would be refused', { skip }, async () => {
  const { all, refused } = await offered({ ...ANN, url: cloud.granary.url, service: 'portal', role: 'user' });
  assert.deepEqual(refused, []);
  assert.ok(names(all).has('portal virtualNetworks.create'));
});

test(
  'a user of a block array is offered what looks and makes, and changes of what they created',
  { skip },
  async () => {
    const { url } = cloud.block;
    const { user } = await arrayClient({ url }).users.login({ user: ANN.username, password: ANN.password });
    const ann = arrayClient({ url, accessKey: user.access_key });
    const pool = (await ann.pools.list()).pools[0]?.name ?? '';
    const { vol_name: volume } = await ann.volumes.create({ name: 'books of ann', pool, capacity: 1024 });
    const created = [volume];
    const { all, refused } = await offered({ ...ANN, url, service: 'array', role: 'user', created });
    assert.deepEqual(refused, []);
    assert.ok(names(all).has('array volumes.create'));
  },
);

for (const role of ['account_admin', 'member'] as const) {
  test(
    `of object storage a person with the role ${role} is offered nothing that would be refused`,
    { skip },
    async () => {
      const person = cloud.people[role];
      const { refused } = await offered({ ...person, url: cloud.objects.url, service: 'objects', role });
      assert.deepEqual(refused, []);
    },
  );
}

test('a call that is refused while the page is open is shown in words', { skip }, async () => {
  const person = await browser.person();
  const { page } = person;
  watchRequests(page);
  await signIn(page, cloud.block.url, { username: 'admin', password: cloud.block.passcode });
  await openPath(page, '/servers');
  await page.getByRole('button', { name: 'New server' }).click();
  const dialog = page.getByRole('dialog');
  await cloud.admin.arrays.lockDown({ array_id: cloud.block.id });
  person.expectsProblem(/servers/);
  await dialog.getByLabel('Name').first().fill('late');
  await dialog.locator('button[type=submit]').click();
  await dialog
    .getByRole('alert')
    .filter({ hasText: /locked/i })
    .first()
    .waitFor();
});

test('who is disabled while the page is open is signed out, and the page says so', { skip }, async () => {
  const second = { username: 'second', password: ANN.password };
  const { data } = await cloud.admin.users.create({ ...second, email: 'second@example.org', role: 'admin' });
  const person = await browser.person();
  const { page } = person;
  watchRequests(page);
  await signIn(page, cloud.granary.url, second);
  await openPath(page, '/users');
  person.expectsProblem(/401|403/);
  await cloud.admin.users.disable({ id: data.id });
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.getByRole('alert').filter({ hasText: 'signed out' }).waitFor();
});
