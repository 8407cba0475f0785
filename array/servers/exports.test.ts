import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { cpuMs } from '../../testing/timing.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import type { Attachment, Server } from './server.ts';
import { createLog, Store, Vault } from '@granary/kernel';
import { turns } from '../../testing/turns.ts';
import type { ExportedServer } from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import { migrations } from '../migrations.ts';
import type { ArrayTools } from '../tools.ts';
import { deleteAttachment, firstFreeLun, insertAttachment } from './attachment-repository.ts';
import { ServerExports } from './exports.ts';
import { deleteServer, insertServer } from './repository.ts';

const anonymous = { os: null, address: null, hostChapUser: null, hostChapSecret: null, isMonitored: true };

/** A store, and an engine that remembers what it was sent and fails when it should. */
async function setUp(t: TestContext) {
  const store = new Store(join(temporaryFolder(t), 'array.db'), migrations);
  t.after(() => store.close());
  const vault = new Vault(Buffer.alloc(32, 1));
  const known = new Map<string, ExportedServer>();
  const engine = {
    calls: 0,
    failures: [] as Error[],
    putServer: async (server: ExportedServer) => {
      engine.calls += 1;
      const failure = engine.failures.shift();
      await turns(1);
      if (failure) throw failure;
      known.set(server.id, server);
    },
    removeServer: async (id: string) => void known.delete(id),
  };
  const tools = { store, vault, engine, log: createLog('test', 'silent') } as unknown as ArrayTools;
  const secrets = { arrayChapUser: 'web', arrayChapSecret: vault.seal('twelve bytes') };
  await store.write((tx) =>
    insertServer(
      tx,
      {
        name: 'srv-1' as Server['name'],
        createdBy: null,
        ...anonymous,
        ...secrets,
        displayName: 'web-1',
        iqn: 'iqn.x:1',
      },
      0,
    ),
  );
  return { store, engine, known, exports: new ServerExports(tools) };
}

async function attach(store: Store, server: string, first: number, count: number): Promise<void> {
  await store.write((tx) => {
    for (let number = first; number < first + count; number++) {
      const volume = `volume-${number}`;
      tx.run(
        `INSERT INTO volumes (name, display_name, cg_name, pool, size_bytes, state, compress, dedupe, wwid, created_at,
           modified_at) VALUES (:volume, :volume, :volume, 'pool-1', 1, 'ready', 0, 0, :volume, 0, 0)`,
        { volume },
      );
      const lun = firstFreeLun(tx, server);
      insertAttachment(tx, {
        volume: volume as Attachment['volume'],
        server: server as Attachment['server'],
        accessType: 'ISCSI',
        lun,
        isReadOnly: false,
        createdAt: 0,
      });
    }
  });
}

test('what the engine hears last is what was written last, however many changes come at once', async (t) => {
  const { store, engine, known, exports } = await setUp(t);
  await Promise.all(
    Array.from({ length: 50 }, async (_, number) => {
      await attach(store, 'srv-1', number, 1);
      await exports.push('srv-1');
    }),
  );
  const { units, chap } = known.get('srv-1')!;
  assert.equal(units.length, 50);
  assert.deepEqual(chap, { user: 'web', secret: 'twelve bytes' });
  assert.ok(engine.calls < 50, 'changes that wait share a turn');
  await store.write((tx) => deleteServer(tx, 'srv-1'));
  await exports.push('srv-1');
  assert.equal(known.size, 0);
});

test('a change is sent again after a failover; one that is refused is sent later', async (t) => {
  const { engine, known, exports } = await setUp(t);
  engine.failures = [new EngineError('interrupted', 'gone'), new EngineError('interrupted', 'gone')];
  await exports.push('srv-1');
  assert.equal(engine.calls, 3);
  known.clear();
  engine.failures = [new EngineError('failed', 'the drives are gone')];
  await assert.rejects(
    exports.push('srv-1'),
    /on record, but the controllers have not applied it yet.*drives are gone/,
  );
  await exports.catchUp();
  assert.ok(known.has('srv-1'));
  const { calls } = engine;
  await exports.catchUp();
  assert.equal(engine.calls, calls, 'nothing is left to tell');
});

test('a start tells the engine of ten thousand attachments in a moment', async (t) => {
  const { store, known, exports } = await setUp(t);
  await store.write((tx) => {
    for (let number = 2; number <= 100; number++) {
      const chap = { arrayChapUser: null, arrayChapSecret: null };
      insertServer(
        tx,
        {
          name: `srv-${number}` as Server['name'],
          createdBy: null,
          ...anonymous,
          ...chap,
          displayName: `${number}`,
          iqn: `iqn.x:${number}`,
        },
        0,
      );
    }
  });
  for (let number = 1; number <= 100; number++) await attach(store, `srv-${number}`, number * 1000, 100);
  const spent = await cpuMs(() => exports.pushAll());
  assert.ok(spent < 2000, `${spent} ms`);
  assert.deepEqual([known.size, known.get('srv-7')!.units.length], [100, 100]);
});

test('a LUN that became free is the next to be used', async (t) => {
  const { store } = await setUp(t);
  await attach(store, 'srv-1', 0, 5);
  const next = () => store.read((db) => firstFreeLun(db, 'srv-1'));
  assert.equal(next(), 5);
  await store.write((tx) => deleteAttachment(tx, 'volume-2', 'srv-1'));
  assert.equal(next(), 2);
  await store.write((tx) => deleteAttachment(tx, 'volume-0', 'srv-1'));
  assert.equal(next(), 0);
});
