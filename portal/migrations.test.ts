import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { migrations } from './migrations.ts';
import { listSummaries, putSummary } from './summaries/repository.ts';
import { emptySummary } from './testing/fake-summaries.ts';

test('accounts on object storage that were there before they were opened by jobs are kept', async (t) => {
  const file = join(temporaryFolder(t), 'portal.db');
  const old = new Store(file, { ...migrations, steps: migrations.steps.slice(0, 1) });
  await old.write((tx) => {
    tx.run(`INSERT INTO users VALUES (1, 'ann', NULL, 'user', 0, '', 'print', '', 0, 0)`, {});
    tx.run(`INSERT INTO clouds VALUES (1, 'local', 'u', 1, '127.0.0.1:1', 'cloud', '', '{}', 0)`, {});
    tx.run(`INSERT INTO providers VALUES (1, 'local', 'local', NULL, 1, 1, 0, 0)`, {});
    tx.run(
      `INSERT INTO arrays (id, uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
         initial_passcode_sealed, internal_key_sealed, created_at)
       VALUES (1, 'a', 'store', 'created', 'object_storage', 1, 1, 1, '{}', '', '', 0)`,
      {},
    );
    tx.run(`INSERT INTO object_accounts VALUES (4, 1, 1, 'acme', 'remote', 'created', 9, 5, 6)`, {});
    tx.run(`INSERT INTO object_accounts VALUES (5, 1, 1, 'waits', NULL, 'waiting_for_approval', 10, 5, 6)`, {});
  });
  old.close();
  const store = new Store(file, migrations);
  t.after(() => store.close());
  const rows = store.read((db) =>
    db.all<object>('SELECT id, account_name, remote_id, status, secrets_sealed FROM object_accounts'),
  );
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { id: 4, account_name: 'acme', remote_id: 'remote', status: 'created', secrets_sealed: null },
      { id: 5, account_name: 'waits', remote_id: null, status: 'waiting_for_approval', secrets_sealed: null },
    ],
  );
});

test('orders of older versions that are not placed yet get no mirrored pairs', async (t) => {
  const file = join(temporaryFolder(t), 'portal.db');
  const old = new Store(file, { ...migrations, steps: migrations.steps.slice(0, 1) });
  await old.write((tx) => {
    tx.run(`INSERT INTO users VALUES (1, 'ann', NULL, 'user', 0, '', 'print', '', 0, 0)`, {});
    tx.run(`INSERT INTO clouds VALUES (1, 'local', 'u', 1, '127.0.0.1:1', 'cloud', '', '{}', 0)`, {});
    tx.run(`INSERT INTO providers VALUES (1, 'local', 'local', NULL, 1, 1, 0, 0)`, {});
    for (const [id, novaId] of [
      [1, 7],
      [2, null],
    ] as const)
      tx.run(
        `INSERT INTO arrays (id, uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
           initial_passcode_sealed, internal_key_sealed, created_at, nova_id)
         VALUES (:id, 'a' || :id, 'tank' || :id, 'creating', 'storage_array', 1, 1, 1, '{"raid_10_pools":true}', '', '', 0, :novaId)`,
        { id, novaId },
      );
  });
  old.close();
  const store = new Store(file, migrations);
  t.after(() => store.close());
  const specs = store.read((db) => db.all<{ spec: string }>('SELECT spec FROM arrays ORDER BY id'));
  assert.deepEqual(
    specs.map(({ spec }) => (JSON.parse(spec) as { raid_10_pools: boolean }).raid_10_pools),
    [true, false],
  );
});

test('an array of a file that has no summaries yet is kept, and what it says of its inside is stored', async (t) => {
  const file = join(temporaryFolder(t), 'portal.db');
  const old = new Store(file, { ...migrations, steps: migrations.steps.slice(0, 17) });
  await old.write((tx) => {
    tx.run(
      `INSERT INTO users (id, username, role, password_hash, token_print, token_sealed, created_at, updated_at)
       VALUES (1, 'ann', 'user', '', 'print', '', 0, 0)`,
      {},
    );
    tx.run(
      `INSERT INTO clouds (id, name, uuid, enabled, address, admin_user, admin_key_sealed, inventory, synced_at)
       VALUES (1, 'local', 'u', 1, '127.0.0.1:1', 'cloud', '', '{}', 0)`,
      {},
    );
    tx.run(
      `INSERT INTO providers (id, name, key, cloud_id, enabled, created_at) VALUES (1, 'local', 'local', 1, 1, 0)`,
      {},
    );
    tx.run(
      `INSERT INTO arrays (id, uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
         initial_passcode_sealed, internal_key_sealed, created_at)
       VALUES (1, 'a', 'tank', 'created', 'storage_array', 1, 1, 1, '{}', '', '', 0)`,
      {},
    );
  });
  old.close();
  const store = new Store(file, migrations);
  t.after(() => store.close());
  assert.equal(store.read((db) => db.get<{ name: string }>('SELECT name FROM arrays WHERE id = 1'))?.name, 'tank');
  assert.deepEqual(store.read(listSummaries), []);
  const said = { arrayId: 1, learntAt: 5, summary: emptySummary };
  await store.write((tx) => putSummary(tx, said));
  assert.deepEqual(
    store.read(listSummaries).map((one) => ({ ...one })),
    [said],
  );
});
