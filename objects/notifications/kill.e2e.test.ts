import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

const MAIN = fileURLToPath(new URL('../testing/array-main.ts', import.meta.url));
const OBJECTS = 40;
const ROUNDS = 2;

interface Message {
  readonly Records?: readonly { readonly s3: { readonly object: { readonly key: string } } }[];
}

test('an event of a put that was acknowledged is delivered, though the array is killed at once', async (t) => {
  const delivered = new Set<string>();
  let isRefusing = true;
  const receiver = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { Records = [] } = JSON.parse(Buffer.concat(pieces).toString()) as Message;
      if (!isRefusing) for (const record of Records) delivered.add(record.s3.object.key);
      response.writeHead(isRefusing ? 503 : 200).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.after(() => receiver.close());
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const objects = await testObjects(t);
  await objects.client.call(objectsApi.groups.settings.setNotificationHosts, { notification_hosts: '127.0.0.1' });
  const s3 = objects.s3(objects.owner);
  t.after(() => s3.close());
  expect(await s3.call('PUT', '/events'), 200);
  const body = `<NotificationConfiguration><TopicConfiguration><Topic>${address}</Topic><Event>s3:ObjectCreated:*</Event></TopicConfiguration></NotificationConfiguration>`;
  expect(await s3.call('PUT', '/events', { query: { notification: '' }, body }), 200);
  await objects.stop();
  const acknowledged = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [MAIN, JSON.stringify(objects.configuration)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => void child.kill('SIGKILL'));
    const killed = once(child, 'exit');
    await once(child.stdout, 'data');
    const client = objects.s3(objects.owner);
    const puts = Array.from({ length: OBJECTS }, async (_, index) => {
      const key = `${round}-${index}`;
      const reply = await client.call('PUT', `/events/${key}`, { body: key });
      if (reply.status === 200) acknowledged.add(key);
      if (acknowledged.size >= (round + 0.5) * OBJECTS) child.kill('SIGKILL');
    });
    await Promise.allSettled(puts);
    child.kill('SIGKILL');
    await killed;
    client.close();
  }
  assert.ok(acknowledged.size >= OBJECTS / 2);
  isRefusing = false;
  await objects.start();
  await until(() => [...acknowledged].every((key) => delivered.has(key)), 'all are delivered');
});
