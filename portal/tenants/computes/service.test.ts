import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PortalActor } from '../../actor.ts';
import { mayActAtOnce } from '../../actor.ts';
import { Fixture } from '../fixture.ts';
import { ComputeService, type ComputeArguments, type FileRequest } from './service.ts';

const defaults = { cores: 64, ram: 238, instances: 10, moderate: false };

/** Decides as the requests service does: at once for those who may and do not ask for moderation. */
function requestsOf(fixture: Fixture, computes: ComputeService) {
  const filed: { actor: PortalActor; moderate: boolean; decided: boolean }[] = [];
  const fileRequest: FileRequest = async (actor, { moderate, arguments: args }) => {
    const decided = !moderate && mayActAtOnce(actor);
    filed.push({ actor, moderate, decided });
    if (decided) {
      const compute = { userId: actor.userId, arguments: args as ComputeArguments, actor: actor.username };
      await fixture.tools.store.write((tx) => computes.createCompute(tx, compute));
    }
    return { decided, requestId: filed.length };
  };
  return { filed, fileRequest };
}

async function computesOf(fixture: Fixture) {
  const computes = new ComputeService(fixture.tools);
  const local = await fixture.provider('local', await fixture.cloud('here'));
  return { computes, local, ...requestsOf(fixture, computes) };
}

test('an auto-approved user gets a compute account at once, with the given sizes', async (context) => {
  const fixture = new Fixture(context);
  const { computes, local, fileRequest } = await computesOf(fixture);
  const ann = await fixture.user('ann', 'user', true);
  const input = {
    ...defaults,
    provider_id: local,
    display_name: 'render farm',
    display_description: 'films',
    cores: 8,
  };

  assert.equal(await computes.order(input, ann, fileRequest), 'Compute account render farm was created.');
  const row = fixture.tools.store.read((db) => db.get<object>('SELECT * FROM computes'));
  assert.deepEqual(
    { ...row },
    {
      id: 1,
      provider_id: local,
      user_id: ann.userId,
      display_name: 'render farm',
      description: 'films',
      cores: 8,
      ram_gb: 238,
      instances: 10,
      created_at: fixture.tools.clock.now(),
    },
  );
  assert.deepEqual(fixture.titles(), ['Compute account render farm was created.']);
});

test('all other requests wait for an administrator', async (context) => {
  const fixture = new Fixture(context);
  const { computes, local, fileRequest, filed } = await computesOf(fixture);
  const ann = await fixture.user('ann');
  const input = { ...defaults, provider_id: local, display_name: 'farm' };

  assert.equal(
    await computes.order(input, ann, fileRequest),
    'Compute account farm waits for an administrator as request 1.',
  );
  assert.deepEqual(filed, [{ actor: ann, moderate: false, decided: false }]);
});

test('a taken name and an unknown or closed provider are refused before a request is filed', async (context) => {
  const fixture = new Fixture(context);
  const { computes, local, fileRequest, filed } = await computesOf(fixture);
  const closed = await fixture.provider('closed', 1, false);
  const ann = await fixture.user('ann', 'user', true);
  const input = { ...defaults, provider_id: local, display_name: 'farm' };
  await computes.order(input, ann, fileRequest);

  await assert.rejects(computes.order(input, ann, fileRequest), { message: 'The name farm is taken; choose another.' });
  await assert.rejects(computes.order({ ...input, provider_id: 99 }, ann, fileRequest), { entry: 'not_found' });
  await assert.rejects(computes.order({ ...input, provider_id: closed }, ann, fileRequest), { entry: 'not_found' });
  assert.equal(filed.length, 1);
});

test('a request decided later still finds its name taken or its provider gone', async (context) => {
  const fixture = new Fixture(context);
  const { computes, local } = await computesOf(fixture);
  const ann = await fixture.user('ann');
  const carryOut = (provider: number) =>
    fixture.tools.store.write((tx) =>
      computes.createCompute(tx, {
        userId: ann.userId,
        arguments: { ...defaults, provider_id: provider, display_name: 'farm' },
        actor: 'admin',
      }),
    );
  await carryOut(local);
  await assert.rejects(carryOut(local), { entry: 'name_taken' });
  await assert.rejects(carryOut(99), { entry: 'not_found' });
});
