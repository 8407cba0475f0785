import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { findAccountNamed } from './accounts/repository.ts';
import { findWalk } from './expiry/repository.ts';
import { migrations } from './migrations.ts';
import { findUserNamed } from './users/repository.ts';

test('accounts and users of the first release are those of this one', async (t) => {
  const file = join(temporaryFolder(t), 'objects.db');
  const first = new Store(file, { ...migrations, steps: migrations.steps.slice(0, 1) });
  await first.write((tx) => {
    tx.run(`INSERT INTO accounts VALUES ('a1', 'objs_admin', 1, 1, 10, 20)`);
    tx.run(`INSERT INTO users (number, id, account_id, username, role, is_primary, password_hash, access_key,
        access_key_mark, token, token_mark, token_expires_at, s3_access_key, s3_secret_key, created_at, modified_at)
      VALUES (7, 'u1', 'a1', 'dana', 'objs_admin', 1, 'hash', 'k', 'km', 't', 'tm', 99, 's', 'ss', 10, 20)`);
  });
  first.close();
  const now = new Store(file, migrations);
  t.after(() => now.close());
  const account = now.read((db) => findAccountNamed(db, 'OBJS_ADMIN'));
  assert.deepEqual(
    [account?.id, account?.isSystem, account?.state, account?.createdAt, account?.modifiedAt],
    ['a1', true, 'normal', 10, 20],
  );
  const user = now.read((db) => findUserNamed(db, 'a1', 'dana'));
  assert.deepEqual(
    [user?.number, user?.passwordHash, user?.passwordSetAt, user?.initPasswordChanged, user?.tokenExpiresAt],
    [7, 'hash', 10, false, 99],
  );
  const { insertedId } = await now.write((tx) =>
    tx.run(`INSERT INTO users (id, account_id, username, role, is_primary, access_key, access_key_mark, token,
        token_mark, token_expires_at, s3_access_key, s3_secret_key, created_at, modified_at)
      VALUES ('u2', 'a1', 'sam', 'member', 0, 'k2', 'km2', 't2', 'tm2', 99, 's2', 'ss2', 10, 20)`),
  );
  assert.equal(insertedId, 8);
  await assert.rejects(now.write((tx) => tx.run(`DELETE FROM accounts WHERE id = 'a1'`)));
});

test('how far lifecycle rules were applied is known after the walks of moves came beside them', async (t) => {
  const file = join(temporaryFolder(t), 'objects.db');
  const before = migrations.steps.findIndex(({ name }) => name === '0014-transitions');
  const old = new Store(file, { ...migrations, steps: migrations.steps.slice(0, before) });
  await old.write((tx) => tx.run(`INSERT INTO lifecycle_walks VALUES (3, 20000, 'rules', '{"phase":"uploads"}')`));
  old.close();
  const now = new Store(file, migrations);
  t.after(() => now.close());
  const walk = { work: 'expiry', bucket: 3, day: 20000, rules: 'rules', position: '{"phase":"uploads"}' };
  const found = now.read((db) => findWalk(db, 'expiry', 3));
  assert.deepEqual({ ...found }, walk);
  assert.equal(
    now.read((db) => findWalk(db, 'transitions', 3)),
    undefined,
  );
});
