import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Store } from '@granary/kernel';
import { migrations } from './migrations.ts';

/** The folder whose repositories name a table. Tables of the kernel are read through the kernel. */
const OWNERS: Readonly<Record<string, string>> = {
  archived_objects: 'file-lifecycle/archive',
  attachments: 'servers',
  capacity_points: 'kernel',
  chap: 'controllers',
  destination_mirrors: 'mirror-jobs',
  drives: 'drives',
  encryption_changes: 'kernel',
  events: 'kernel',
  export_names: 'shares',
  file_categories: 'file-lifecycle/categories',
  file_extensions: 'file-lifecycle/categories',
  file_restores: 'file-history',
  idempotency_keys: 'kernel',
  jobs: 'kernel',
  lifecycle_policies: 'file-lifecycle/policies',
  lifecycle_rules: 'file-lifecycle/policies',
  lifecycle_shares: 'file-lifecycle/scans',
  migrations_of_volumes: 'migration-jobs',
  nas_groups: 'nas',
  nas_members: 'nas',
  nas_users: 'nas',
  object_storage_destinations: 'object-storage-destinations',
  peer_keys: 'peers',
  peers: 'peers',
  performance: 'performance',
  pool_samples: 'pools',
  pools: 'pools',
  quota_directories: 'quotas',
  quota_projects: 'quotas',
  raid_groups: 'raid-groups',
  remote_arrays: 'remote-arrays',
  remote_pools: 'remote-arrays',
  schema_versions: 'kernel',
  sequences: 'sequences',
  server_wwpns: 'servers',
  servers: 'servers',
  sessions: 'kernel',
  settings: 'settings',
  share_clones: 'file-lifecycle/archive',
  shares: 'shares',
  snapshot_counts: 'snapshots',
  snapshot_policies: 'snapshot-policies',
  snapshot_rules: 'snapshot-policies',
  snapshot_set_members: 'snapshot-sets',
  snapshot_sets: 'snapshot-sets',
  snapshots: 'snapshots',
  source_mirrors: 'mirror-jobs',
  tags: 'tags',
  users: 'users',
  volumes: 'volumes',
  webhooks: 'kernel',
};

interface Join {
  readonly tables: readonly string[];
  readonly why: string;
}

/** Statements that read a table of another folder. They change nothing, and a join is much cheaper than two queries. */
const JOINS: Readonly<Record<string, Join>> = {
  'check/records.ts': {
    tables: ['drives', 'jobs', 'pools', 'raid_groups', 'snapshots', 'volumes'],
    why: 'reads a copy of the database of a stopped array, which may be older than the migrations',
  },
  'file-lifecycle/archive/repository.ts': {
    tables: ['snapshots', 'source_mirrors', 'volumes'],
    why: 'unused objects are found among millions in one pass',
  },
  'file-lifecycle/policies/repository.ts': {
    tables: ['volumes'],
    why: 'a page of rules leaves out those of volumes in the recycle bin, and is counted the same way',
  },
  'file-lifecycle/scans/repository.ts': {
    tables: ['lifecycle_policies', 'lifecycle_rules', 'volumes'],
    why: 'shares that are due are found by their rules and by the state of their volumes',
  },
  'servers/attachment-repository.ts': {
    tables: ['volumes'],
    why: 'at a start ten thousand units are listed with the WWIDs of their volumes',
  },
  'snapshot-policies/repository.ts': { tables: ['volumes'], why: 'due rules are those of volumes that are ready' },
  'snapshot-sets/repository.ts': {
    tables: ['snapshots', 'volumes'],
    why: 'members are shown without the snapshots and clones that were deleted since',
  },
  'snapshots/repository.ts': {
    tables: ['destination_mirrors', 'source_mirrors', 'volumes'],
    why: 'a page of snapshots is filtered by their volumes, and the oldest that no mirror needs is found in an index',
  },
  'volumes/listing-repository.ts': {
    tables: ['attachments', 'pools', 'snapshot_set_members', 'snapshots', 'source_mirrors'],
    why: 'a page of thousands of volumes shows what others have on record of them',
  },
};

const store = new Store(':memory:', migrations);
const tables = store.read((db) =>
  db.all<{ name: string }>(
    `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name`,
  ),
);
const folder = import.meta.dirname;
const sources = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.test.ts', '**/testing/**', 'node_modules/**'] }).map(
  (file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }),
);

interface Use {
  readonly file: string;
  readonly table: string;
  readonly isRead: boolean;
}

/** Every place in a file where a statement, or a `Table`, names a table. */
function usesIn({ file, text }: { readonly file: string; readonly text: string }): Use[] {
  const places = text.matchAll(/\b(DELETE FROM|FROM|JOIN|INTO|UPDATE|new Table<[^(]*\()\s*'?(\w+)/g);
  return [...places].flatMap(([, verb = '', table = '']) =>
    Object.hasOwn(OWNERS, table) ? [{ file, table, isRead: verb === 'FROM' || verb === 'JOIN' }] : [],
  );
}

test('each table has one owner, and no other folder changes it or names it in a statement that is not listed', () => {
  assert.deepEqual(Object.keys(OWNERS).sort(), tables.map(({ name }) => name).sort());
  const uses = sources.flatMap(usesIn);
  const foreign = uses.filter(({ file, table }) => dirname(file) !== OWNERS[table]);
  const isListed = ({ file, table, isRead }: Use) => isRead && JOINS[file]?.tables.includes(table) === true;
  assert.deepEqual(
    foreign.filter((use) => !isListed(use)).map(({ file, table }) => `${file} names ${table} of ${OWNERS[table]}`),
    [],
  );
  const unused = Object.entries(JOINS).flatMap(([file, join]) =>
    join.tables.filter((table) => !foreign.some((use) => use.file === file && use.table === table)),
  );
  assert.deepEqual(unused, [], 'joins that are listed and not there');
});

test('each Table maps all columns of its table, and no others', () => {
  const mapped = sources.flatMap(({ text }) =>
    [...text.matchAll(/new Table<[^(]*\('(\w+)', \{(.*?)\n\}\)/gs)].map(([, table = '', columns = '']) => ({
      table,
      columns: [...columns.matchAll(/: \w+(?:<[^(]*>)?\('(\w+)'/g)].map(([, column = '']) => column).sort(),
    })),
  );
  assert.ok(mapped.length >= 25, 'the tables of the repositories are found');
  const sql = 'SELECT name FROM pragma_table_info(:table) ORDER BY name';
  const columnsOf = (table: string) => store.read((db) => db.all<{ name: string }>(sql, { table }));
  assert.deepEqual(
    mapped,
    mapped.map(({ table }) => ({ table, columns: columnsOf(table).map(({ name }) => name) })),
  );
});
