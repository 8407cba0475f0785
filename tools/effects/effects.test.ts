import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endpoint, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { anyone } from '../../contract/endpoint.ts';
import { integer, text } from '../../contract/params.ts';
import { response } from '../../contract/reply.ts';
import { coverage, readRows, staleRows } from './effects.ts';

const get = (params: Api['groups'][string][string]['params']) =>
  endpoint('GET', '/things', { summary: 'Things', access: anyone, params, reply: response({}) });
const api: Api = {
  name: 'small',
  title: 'Small',
  description: '',
  dialect: 'array',
  groups: {
    things: { list: get({ limit: integer('Page'), name: text('Name') }), show: get({ limit: integer('Page') }) },
  },
};
const root = join(import.meta.dirname, '../..');

test('a row covers its parameter, and one for every endpoint covers those without a row of their own', () => {
  const rows = readRows('# a comment\n*\tlimit\ta.test.ts\tpages\nthings.show\tlimit\tb.test.ts\tshows\n');
  const found = coverage(api, rows).map(({ operation, parameter, row }) => [operation, parameter, row?.file]);
  assert.deepEqual(found, [
    ['things.list', 'limit', 'a.test.ts'],
    ['things.list', 'name', undefined],
    ['things.show', 'limit', 'b.test.ts'],
  ]);
});

test('a row that names what is not there, or stands twice, is stale', () => {
  const rows = readRows(
    ['things.list\tname\ta\tnames', 'things.list\tname\ta\tnames', 'things.list\tsize\tb\tsizes'].join('\n'),
  );
  const sourceOf = (file: string) => (file === 'a' ? `test('names', () => {})` : undefined);
  assert.deepEqual(staleRows(api, rows, sourceOf), [
    'things.list name: the row stands twice',
    'things.list size: the API has no such parameter',
    'things.list size: there is no file b',
  ]);
  assert.equal(staleRows(api, readRows('things.list\tname\ta\tothers'), sourceOf).length, 1);
});

test('no row of the three APIs is stale', () => {
  const sourceOf = (file: string) => {
    const path = join(root, file);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  };
  for (const one of [portalApi, arrayApi, objectsApi]) {
    const rows = readRows(readFileSync(join(import.meta.dirname, `${one.name}.tsv`), 'utf8'));
    assert.deepEqual(staleRows(one, rows, sourceOf), []);
  }
});
