import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { testNetwork } from '../../../kernel/process/testing/addresses.ts';
import { testConfiguration, testHost } from '../../../kernel/process/testing/configuration.ts';
import { temporaryFolder } from '../../../testing/folders.ts';
import { startObjects } from '../../start.ts';

const DATA_PORT = 8080;
const answers = (host: string) =>
  fetch(`http://${host}:${DATA_PORT}/healthcheck`).then(
    () => true,
    () => false,
  );

test(
  'object storage does not serve at a port that another process shares, and says so',
  { timeout: 300_000 },
  async (t) => {
    const network = testNetwork();
    const victim = `${network}.9`;
    const interfaces = [{ id: 1, address: victim, netmask: '255.255.255.0', gateway: null, vlanId: 1 }];
    const configuration = testConfiguration(temporaryFolder(t), {
      engine: null,
      cacheGb: 0,
      dataPort: DATA_PORT,
      management: { host: `${network}.1`, port: 7480 },
      managementUrl: `http://${network}.1:7480`,
    });
    const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    other.listen({ host: victim, port: DATA_PORT, reusePort: process.platform === 'linux' });
    await once(other, 'listening');
    const array = await startObjects(configuration, testHost);
    t.after(() => array.stop());
    assert.deepEqual(array.unbound, []);
    assert.equal(await answers(`${network}.1`), true);
    await array.change({ ...configuration, interfaces });
    assert.deepEqual(array.unbound, [
      { address: victim, reason: `another program listens on port ${DATA_PORT} of the address.` },
    ]);
    other.close();
    await once(other, 'close');
    assert.equal(await answers(victim), false, 'nothing of it is served there');
    await array.change({ ...configuration, interfaces });
    assert.deepEqual(array.unbound, []);
    assert.equal(await answers(victim), true);
    await array.stop();
    const again = await startObjects({ ...configuration, interfaces }, testHost);
    t.after(() => again.stop());
    assert.deepEqual(again.unbound, [], 'a stopped array gives its ports back');
  },
);

test(
  'a public service is one more place where object storage serves, and goes again',
  { timeout: 300_000 },
  async (t) => {
    const network = testNetwork();
    const host = `${network}.1`;
    const configuration = testConfiguration(temporaryFolder(t), {
      engine: null,
      cacheGb: 0,
      dataPort: DATA_PORT,
      management: { host, port: 7480 },
      managementUrl: `http://${host}:7480`,
    });
    const array = await startObjects(configuration, testHost);
    t.after(() => array.stop());
    const serves = (port: number) =>
      fetch(`http://${host}:${port}/healthcheck`).then(
        () => true,
        () => false,
      );
    const publicService = { address: host, port: 9443, host: 'objects.example.org' };
    await array.change({ ...configuration, publicService });
    assert.deepEqual([await serves(9443), await serves(DATA_PORT)], [true, true]);
    assert.deepEqual(array.bound, [host, `${host}:9443`]);
    const other = createServer().listen({ host, port: 9555 });
    await once(other, 'listening');
    await array.change({ ...configuration, publicService: { ...publicService, port: 9555 } });
    assert.deepEqual(array.unbound, [
      { address: `${host}:9555`, reason: 'another program listens on port 9555 of the address.' },
    ]);
    other.close();
    await array.change(configuration);
    assert.deepEqual([await serves(9443), array.unbound], [false, []]);
  },
);
