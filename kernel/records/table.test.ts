import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryStore } from '../testing/temporary-store.ts';
import { flag, generated, json, plain, Table } from './table.ts';

interface Lamp {
  readonly id: number;
  readonly displayName: string;
  readonly isLit: boolean;
  readonly note: string | null;
  readonly colours: readonly string[] | null;
}

const lamps = new Table<Lamp>('lamps', {
  id: plain('id'),
  displayName: plain('display_name'),
  isLit: flag('is_lit'),
  note: plain('note'),
  colours: json('colours'),
});

const LAMPS = `CREATE TABLE lamps (id INTEGER PRIMARY KEY, display_name TEXT NOT NULL, is_lit INTEGER NOT NULL,
  note TEXT, colours TEXT) STRICT`;
const SELECT = `SELECT ${lamps.fields()} FROM lamps`;
const desk: Lamp = { id: 1, displayName: 'Desk', isLit: true, note: null, colours: ['red', 'white'] };
const hall: Lamp = { id: 2, displayName: 'Hall', isLit: false, note: 'old', colours: null };

test('a record is read as it was written', async (t) => {
  const store = temporaryStore(t, LAMPS);
  assert.equal(await store.write((tx) => lamps.insert(tx, desk)), 1);
  await store.write((tx) => lamps.insert(tx, hall));
  const read = store.read((db) => lamps.all(db, `${SELECT} ORDER BY id`));
  assert.deepEqual(
    read.map((row) => ({ ...row })),
    [desk, hall],
  );
  assert.equal(
    store.read((db) => lamps.get(db, `${SELECT} WHERE id = :id`, { id: 3 })),
    undefined,
  );
  const stored = store.read((db) => db.get<object>('SELECT is_lit, colours FROM lamps WHERE id = 1'));
  assert.deepEqual({ ...stored }, { is_lit: 1, colours: '["red","white"]' });
});

test('a new record has no number of its own, and is given one', async (t) => {
  const store = temporaryStore(t, LAMPS);
  const numbered = new Table<Lamp, 'id'>('lamps', {
    id: generated('id'),
    displayName: plain('display_name'),
    isLit: flag('is_lit'),
    note: plain('note'),
    colours: json('colours'),
  });
  const { id: _, ...fresh } = desk;
  await store.write((tx) => lamps.insert(tx, hall));
  assert.equal(await store.write((tx) => numbered.insert(tx, fresh)), 3);
  assert.deepEqual({ ...store.read((db) => numbered.get(db, `${SELECT} WHERE id = 3`)) }, { ...desk, id: 3 });
  // @ts-expect-error the column of a generated field is generated
  new Table<Pick<Lamp, 'id'>, 'id'>('lamps', { id: plain('id') });
});

test('a change leaves what it does not name, and null is a value', async (t) => {
  const store = temporaryStore(t, LAMPS);
  await store.write((tx) => lamps.insert(tx, desk));
  await store.write((tx) => lamps.insert(tx, hall));
  const change = { isLit: true, note: null, displayName: undefined };
  assert.equal(await store.write((tx) => lamps.update(tx, { id: 2, isLit: false }, change)), 1);
  assert.equal(await store.write((tx) => lamps.update(tx, { id: 2, isLit: false }, change)), 0);
  const read = store.read((db) => lamps.all(db, `${SELECT} ORDER BY id`));
  assert.deepEqual(
    read.map((row) => ({ ...row })),
    [desk, { ...hall, isLit: true, note: null }],
  );
});

test('a statement may select more than the fields', async (t) => {
  const store = temporaryStore(t, LAMPS);
  await store.write((tx) => lamps.insert(tx, desk));
  const sql = `SELECT ${lamps.fields('l')}, length(l.display_name) AS nameLength FROM lamps AS l`;
  const lamp = store.read((db) => lamps.get<{ readonly nameLength: number }>(db, sql));
  assert.equal(lamp?.nameLength, 4);
  assert.equal(lamp.isLit, true);
});

test('a change without a record, or with a field that is none, changes nothing', async (t) => {
  const store = temporaryStore(t, LAMPS);
  await store.write((tx) => lamps.insert(tx, desk));
  await assert.rejects(
    store.write((tx) => lamps.update(tx, {}, { note: 'x' })),
    /names its record/,
  );
  await assert.rejects(
    store.write((tx) => lamps.update(tx, { id: 1 }, { note: undefined })),
    /names a field/,
  );
  const unknown = { wattage: 60 } as unknown as Lamp;
  await assert.rejects(
    store.write((tx) => lamps.update(tx, { id: 1 }, unknown)),
    /lamps has a field wattage/,
  );
  assert.deepEqual({ ...store.read((db) => lamps.get(db, SELECT)) }, desk);
});
