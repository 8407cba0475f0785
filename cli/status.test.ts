import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { fakePortal, runCommand, type Replies } from './testing/portal.ts';

const R = (fields: object) => ({ response: { status: 0, ...fields } });
const pool = { display_name: 'main', status: 'normal', capacity: 100, available_capacity: 40, capacity_mode: 'normal' };
const healthy = {
  'GET /pools': R({ pools: [pool] }),
  'GET /drives': R({ disks: [{ display_name: 'd1', status: 'Normal' }] }),
  'GET /raid_groups': R({ raid_groups: [{ display_name: 'pair', status: 'Normal' }] }),
  'GET /mirror_jobs': R({ array_mirror_jobs: [] }),
  'GET /vcontrollers': R({ vcontrollers: [{ display_name: 'vc-0', state: 'active' }] }),
};

/** A portal with one array at its own address, whose key is kept, and another without a sign-in. */
async function installation(t: TestContext, replies: Replies = {}) {
  const place: { url?: string } = {};
  const arrays = () => ({
    status: 'success',
    data: [
      { id: 1, name: 'tank', status: 'created', product: 'storage_array', management_url: place.url },
      { id: 2, name: 'pond', status: 'created', product: 'storage_array', management_url: 'http://127.64.9.9:7480' },
    ],
  });
  const portal = await fakePortal(t, {
    'GET /arrays': arrays,
    'GET /array_requests': { status: 'success', data: [] },
    ...healthy,
    ...replies,
  });
  place.url = portal.url;
  const XDG_CONFIG_HOME = temporaryFolder(t);
  mkdirSync(join(XDG_CONFIG_HOME, 'granary'));
  const key = { product: 'storage_array', url: portal.url, name: 'tank', username: 'admin', key: 'k' };
  writeFileSync(join(XDG_CONFIG_HOME, 'granary', 'arrays.json'), JSON.stringify([key]));
  const env = { GRANARY_URL: portal.url, GRANARY_TOKEN: 'tok', XDG_CONFIG_HOME };
  return (...args: string[]) => runCommand(['status', ...args], env);
}

test('status shows what is up on one screen, and is 0 when nothing needs attention', async (t) => {
  const status = await installation(t);
  const { code, out, err } = await status();
  assert.equal(code, 0, err);
  assert.match(out, /^Arrays +2 up$/m);
  assert.match(out, /^Requests +none waiting$/m);
  assert.match(out, /^tank +storage_array +up +60 GiB +100 GiB +1$/m);
  assert.match(out, /^pond +storage_array +up +not signed in: granary array login pond$/m);
});

test('an order that was denied is named with the reason, and is nothing that fails', async (t) => {
  const wish = { id: 3, name: 'wish', status: 'failed', product: 'storage_array' };
  const denied = { ...wish, status_message: 'Request 7 was denied: out of budget' };
  const status = await installation(t, { 'GET /arrays': { status: 'success', data: [denied] } });
  const { code, out } = await status();
  assert.equal(code, 0);
  assert.match(out, /^Arrays +1 denied$/m);
  assert.match(out, /^wish +storage_array +denied +out of budget$/m);
});

test('what is failing or full makes it 1; what waits or is under way does not', async (t) => {
  const request = { id: 5, name: 'lake', kind: 'create_array', created_at: '2026-11-18 20:00:00 UTC' };
  const waiting = await installation(t, {
    'GET /array_requests': { status: 'success', data: [request] },
    'GET /raid_groups': R({ raid_groups: [{ display_name: 'pair', status: 'Recovering 40%' }] }),
  });
  const calm = await waiting();
  assert.equal(calm.code, 0);
  assert.match(
    calm.out,
    /Waiting:\n {2}request 5 \(create_array lake\) .*\n\nUnder way:\n {2}tank: RAID group pair: Recovering 40%/,
  );
  const failing = await installation(t, {
    'GET /pools': R({ pools: [{ ...pool, available_capacity: 5 }] }),
    'GET /drives': R({ disks: [{ display_name: 'd1', status: 'Failed' }] }),
    'GET /mirror_jobs': R({ array_mirror_jobs: [{ job_display_name: 'far', status: 'Disconnected' }] }),
  });
  const { code, out, err } = await failing();
  assert.deepEqual([code, err], [1, 'granary: 3 things need attention.\n']);
  assert.match(
    out,
    /Failing:\n {2}tank: drive d1 is Failed\n {2}tank: mirror far is Disconnected\n\nFull:\n {2}tank: pool main is 95% full, 5 GiB left/,
  );
  const json = JSON.parse((await failing('--output', 'json')).out) as { ok: boolean; findings: unknown[] };
  assert.deepEqual([json.ok, json.findings.length], [false, 3]);
});

test('an array whose key is not known any more says what to do', async (t) => {
  const refused = await installation(t, { 'GET /pools': { response: { status: 5, message: 'Sign in.' } } });
  const { code, out } = await refused();
  assert.equal(code, 0);
  assert.match(out, /^tank .*Sign in\. \(granary array login tank\)$/m);
});
