import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Operation } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { startsWork, waiting } from '../contract/params.ts';
import type { Values } from '../kernel/http/testing/encodings.ts';
import * as things from './testing/things.ts';
import { validValues } from './testing/valid-requests.ts';
import { arrayOperations, startWalk } from './testing/walk.ts';

/**
 * Goal: callers choose whether they wait for work, and learn whether it is done.
 * Method: every operation of the contract that takes a timeout is called with success, without waiting and waiting for
 * the end.
 */
const walk = await startWalk({ after });
const { admin } = walk;
const { asyncStatus } = arrayApi;
const DONE = 0;

const taking = (timeout: object) =>
  arrayOperations.filter(({ endpoint: { params } }) => (params as Record<string, unknown>)['timeout'] === timeout);

/** Where what is usual there has nothing to do, or is still busy after the first of two calls. */
const prepared: Readonly<Record<string, () => Promise<Values>>> = {
  'drives.replace': async () => {
    const id = await walk.array.group();
    const { disks } = await walk.client.call(walk.api.raidGroups.listDrives, { id });
    return { id: disks[0]!.name, toname: await walk.freeDrive() };
  },
  'raidGroups.scrub': async () => ({ id: await walk.array.group() }),
  'quotaProjects.create': async () => ({
    id: await things.newShare(walk),
    display_name: walk.name('project'),
    directories: ['/'],
  }),
  'quotaProjects.delete': async () => ({ ...(await things.wholeProject(walk)), force: true }),
};

async function status(operation: Operation, timeout: number): Promise<number | string | undefined> {
  const prepare = prepared[operation.id];
  const { path, ...values } = await (prepare?.() ?? validValues(operation, walk, admin));
  const taken = 'path' in operation.endpoint.params ? { path } : {};
  const { text } = await walk.ask(operation, { ...values, ...taken, timeout }, admin.key);
  const { response } = JSON.parse(text) as { response: { status: number; message?: string } };
  // The rest of a refusal says why.
  return [DONE, asyncStatus].includes(response.status) ? response.status : response.message;
}

test('with timeout=0 work that is waited for otherwise is submitted, and with -1 it is done', async () => {
  for (const operation of taking(waiting.timeout)) {
    assert.equal(await status(operation, 0), asyncStatus, `${operation.id} with timeout=0`);
    assert.equal(await status(operation, -1), DONE, `${operation.id} with timeout=-1`);
  }
});

test('a reply that names what was started is the same with every timeout', async () => {
  for (const operation of taking(startsWork.timeout))
    for (const timeout of [0, 60]) assert.equal(await status(operation, timeout), DONE, `${operation.id} ${timeout}`);
});
