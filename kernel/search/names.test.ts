import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../store/index.ts';
import { bestFirst, bestNamed, likeAny, likeParams, type Named } from './names.ts';

const things = (...names: string[]): Named[] =>
  names.map((name) => ({ kind: 'pools', id: name, name, detail: 'Pool' }));
const names = (text: string, all: Named[], limit = 10) => bestNamed(all, text, limit).map(({ name }) => name);

test('the whole name comes first, then names that begin so, then words that do, then any part', () => {
  const all = things('my-data', 'metadata', 'database', 'data');
  assert.deepEqual(names('DATA', all), ['data', 'database', 'my-data', 'metadata']);
  assert.deepEqual(names('data', all, 2), ['data', 'database']);
});

test('names that are alike are in the order of their numbers', () => {
  assert.deepEqual(names('vol', things('vol-10', 'vol-9', 'vol-1')), ['vol-1', 'vol-9', 'vol-10']);
});

test('another text that it is known by is found last, and shown', () => {
  const drive = { kind: 'drives', id: 'disk-1', name: 'disk-1', detail: 'Drive', also: [null, 'SN-4711'] };
  assert.deepEqual(bestNamed([drive, ...things('4711')], '4711', 5), [
    { kind: 'pools', id: '4711', name: '4711', detail: 'Pool' },
    { kind: 'drives', id: 'disk-1', name: 'disk-1', detail: 'Drive · SN-4711' },
  ]);
});

test('a blank text finds nothing', () => {
  assert.deepEqual(names('  ', things('a')), []);
});

test('statements take what people type as text, in whatever case', (t) => {
  const store = new Store(':memory:', {
    component: 'test',
    steps: [{ name: '1', sql: 'CREATE TABLE things (name TEXT)' }],
  });
  t.after(() => store.close());
  const find = (text: string) =>
    store
      .read((db) =>
        db.all<{ name: string }>(
          `SELECT name FROM things WHERE ${likeAny('name')} ORDER BY ${bestFirst('name')}`,
          likeParams(text, 3),
        ),
      )
      .map(({ name }) => name);
  return store
    .write((tx) => {
      for (const name of ['a%b', 'axb', 'a_b', 'Größe', 'GRÖSSE', 'xaxb', 'axbx', 'ÜBUNG'])
        tx.run('INSERT INTO things (name) VALUES (:name)', { name });
    })
    .then(() => {
      assert.deepEqual(find('a%b'), ['a%b']);
      assert.deepEqual(find('A_B'), ['a_b']);
      assert.deepEqual(find('axb'), ['axb', 'axbx', 'xaxb']);
      assert.deepEqual(find('größ'), ['Größe', 'GRÖSSE']);
      assert.deepEqual(find('übung'), ['ÜBUNG']);
    });
});
