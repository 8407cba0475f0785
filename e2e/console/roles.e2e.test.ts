import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { arrayClient } from '@granary/client';
import type { Api, Endpoint } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { adminPassword } from '../granary.ts';
import { launchBrowser, signIn, skipWithoutBrowser, type ConsoleBrowser, type SignIn } from './browser.ts';
import { ANN, markup, startMarkedCloud, type MarkedCloud } from './marked-cloud.ts';
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
  try {
    // Before the service stops: pages that are open would say so.
    await browser.close();
  } finally {
    await cloud.granary.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
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
  const isOthers = access.creator && record !== undefined && !record.split('\n').every((one) => created.includes(one));
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
  assert.deepEqual(
    unreached.filter((pattern) => !pattern.includes('$')),
    [],
  );
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
    const { volume, cg } = await volumeOfAnn('books of ann');
    const created = [volume, cg];
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

async function annAtArray() {
  const { url } = cloud.block;
  const { user } = await arrayClient({ url }).users.login({ user: ANN.username, password: ANN.password });
  return arrayClient({ url, accessKey: user.access_key });
}

async function volumeOfAnn(name: string): Promise<{ readonly volume: string; readonly cg: string }> {
  const ann = await annAtArray();
  const pool = (await ann.pools.list()).pools[0]?.name ?? '';
  const { vol_name: volume } = await ann.volumes.create({ name, pool, capacity: 1024 });
  return { volume, cg: (await ann.volumes.get({ id: volume })).volume.cg_name };
}

async function volumeOfOthers(): Promise<string> {
  const { volumes } = await cloud.block.client.volumes.list();
  return volumes.find(({ display_name: name }) => name === markup('volume'))?.name ?? '';
}

/** The buttons of an operation that the open page shows; `record` is what it would be done to. */
function buttonsOf(page: Page, operation: string, record?: string): Locator {
  const which = record === undefined ? '' : `[data-record="${record}"]`;
  return page.locator(`main button[data-operation="${operation}"]${which}`);
}

test('a user is offered changes of what they created, as long as they may change it', { skip }, async () => {
  const { client, url } = cloud.block;
  const [{ volume, cg }, others] = [await volumeOfAnn('diary of ann'), await volumeOfOthers()];
  const policy = { display_name: 'policy of ann', create_policy: '0 0 * * *', delete_policy: 'N24' };
  const { snapshot_policy: made } = await (await annAtArray()).snapshotPolicies.create(policy);
  const { page } = await browser.person();
  watchRequests(page);
  await signIn(page, url, ANN);
  await openPath(page, `/volumes/${volume}`);
  await buttonsOf(page, 'array snapshots.create', cg).first().waitFor();
  await openPath(page, '/policies');
  const menu = page.getByRole('button', { name: 'Actions of policy of ann' });
  await menu.waitFor();
  // From then on it says what becomes of another's snapshots, too.
  const attachment = { id: others, policy: made.name, application: 'user' } as const;
  const { snapshot_rule_name: snaprule } = await client.snapshotPolicies.attach(attachment);
  await menu.waitFor({ state: 'detached' });
  await client.snapshotPolicies.detach({ id: others, snaprule });
  await menu.waitFor();
});

test("what is offered follows the person's role at an array while its page is open", { skip }, async () => {
  const { client, url } = cloud.block;
  const { page } = await browser.person();
  watchRequests(page);
  await signIn(page, url, ANN);
  await openPath(page, '/users');
  const button = buttonsOf(page, 'array users.create').first();
  await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  assert.equal(await button.count(), 0);
  await client.users.update({ name: ANN.username, role: 'admin' });
  await button.waitFor();
  await client.users.update({ name: ANN.username, role: 'user' });
  await button.waitFor({ state: 'detached' });
});

test("what is offered follows the person's role at the portal, and at an array behind it", { skip }, async () => {
  const deputy = { username: 'deputy', password: ANN.password };
  const { data } = await cloud.admin.users.create({ ...deputy, email: 'deputy@example.org', role: 'admin' });
  await cloud.block.client.users.create({ ...deputy, email: 'deputy@example.org' });
  const person = await browser.person();
  const { page } = person;
  watchRequests(page);
  await signIn(page, cloud.granary.url, deputy);
  await openPath(page, `/arrays/${cloud.block.id}/block/users`);
  const make = buttonsOf(page, 'array users.create').first();
  assert.equal(await make.count(), 0);
  await cloud.block.client.users.update({ name: deputy.username, role: 'admin' });
  await make.waitFor();
  await cloud.block.client.users.update({ name: deputy.username, role: 'user' });
  await make.waitFor({ state: 'detached' });

  await openPath(page, '/users');
  const invite = buttonsOf(page, 'portal users.create').first();
  await invite.waitFor();
  // The list on the page is for administrators: it is read once more while the role changes.
  person.expectsProblem(/GET .* 403$/);
  await cloud.admin.users.update({ id: data.id, role: 'user' });
  await invite.waitFor({ state: 'detached' });
  await page.close();
});

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
  // Sent at once, it is refused; when the page has heard of it before, the form says so and sends nothing.
  await dialog.getByLabel('Name').first().press('Enter');
  const [refused, told] = [dialog.getByRole('alert'), dialog.getByRole('status')];
  await refused
    .or(told)
    .filter({ hasText: /locked/i })
    .first()
    .waitFor();
  // The portal knows that it is locked: behind it nothing is offered that would be refused.
  const other = await browser.person();
  watchRequests(other.page);
  await signIn(other.page, cloud.granary.url, { username: 'admin', password: adminPassword });
  await openPath(other.page, `/arrays/${cloud.block.id}/block/servers`);
  await other.page.getByRole('status').filter({ hasText: 'Locked down' }).waitFor();
  assert.equal(await buttonsOf(other.page, 'array servers.create').count(), 0);
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
