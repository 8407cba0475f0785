import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import { parse } from 'yaml';
import { columnsFor } from './columns/index.ts';
import { arrayColumns } from './columns/array.ts';
import { objectsColumns } from './columns/objects.ts';
import { portalColumns } from './columns/portal.ts';
import { csvText, yamlText } from './programs.ts';
import { shapeOfReply, type Schemas } from './shape.ts';
import { capacityText, fieldText, unitOf } from './units.ts';

const apis: readonly Api[] = [portalApi, arrayApi, objectsApi];
const declared = { portal: portalColumns, array: arrayColumns, objects: objectsColumns };

/** Every record that a list replies with, by API and title. */
function listedRecords(): { api: Api; title: string; fields: Schemas }[] {
  return apis.flatMap((api) =>
    operations(api).flatMap(({ endpoint: { reply } }) => {
      const shape = reply.kind === 'record' ? shapeOfReply(reply) : undefined;
      return shape?.kind === 'rows' && shape.title !== undefined
        ? [{ api, title: shape.title, fields: shape.fields }]
        : [];
    }),
  );
}

test('the columns of a list are fields of its records, and no two have one title', () => {
  const records = listedRecords();
  for (const { api, title, fields } of records) {
    const { main = [], more = [] } = columnsFor(api, title) ?? {};
    for (const { field } of [...main, ...more]) assert.ok(field in fields, `${api.name} ${title}.${field}`);
    const titles = [...main, ...more].map((column) => column.title);
    assert.equal(new Set(titles).size, titles.length, `${api.name} ${title}`);
  }
  for (const [name, columns] of Object.entries(declared)) {
    const listed = records.filter(({ api }) => api.name === name).map(({ title }) => title);
    for (const title of Object.keys(columns)) assert.ok(listed.includes(title), `${name} lists ${title}`);
  }
});

test('capacities have the unit of 1024 that fits', () => {
  assert.equal(capacityText(5, 'GiB'), '5 GiB');
  assert.equal(capacityText(1.5, 'GiB'), '1.5 GiB');
  assert.equal(capacityText(18.999, 'GiB'), '18.99 GiB', 'cut, not rounded up');
  assert.equal(capacityText(8.2 * 1024, 'GiB'), '8.2 TiB');
  assert.equal(capacityText(1536, 'GiB'), '1.5 TiB');
  assert.equal(capacityText(0.5, 'GiB'), '512 MiB');
  assert.equal(capacityText(0, 'GiB'), '0 GiB');
  assert.equal(capacityText(1000, 'B'), '1000 B');
  assert.equal(capacityText(5 * 2 ** 20, 'B'), '5 MiB');
});

test('every capacity in GB or MB of a list is shown with its unit', () => {
  for (const { api, title, fields } of listedRecords()) {
    for (const [field, schema] of Object.entries(fields)) {
      if (!/capacity/.test(field) || (schema.type !== 'number' && schema.type !== 'integer')) continue;
      if (/history|mode|count/.test(field)) continue;
      assert.ok(unitOf(field, schema), `${api.name} ${title}.${field}`);
    }
  }
  assert.equal(unitOf('capacity_mode', { type: 'string' }), undefined);
  assert.equal(unitOf('lun', { type: 'integer', description: 'A number' }), undefined);
});

test('times are shown alike, whatever form the API gives them in', () => {
  assert.equal(
    fieldText('created_at', { type: 'string', format: 'iso' }, '2026-11-18T20:00:34+0000'),
    '2026-11-18 20:00:34 UTC',
  );
  const epoch = { type: 'string', description: 'Seconds since 1970' };
  assert.equal(fieldText('create_time', epoch, '1795032016'), '2026-11-18 20:00:16 UTC');
  assert.equal(fieldText('create_time', epoch, '0'), '0');
});

test('YAML says the same as the JSON it was made of, to readers of both versions', async () => {
  assert.equal(
    await yamlText({ name: 'tank', id: 7, drives: [{ type: 'SSD' }] }),
    'name: tank\nid: 7\ndrives:\n  - type: SSD',
  );
  const words = ['yes', 'null', '1', '1e3', '', ' a', 'a: b', 'a #b', '2026-11-18', 'a\nb', '0x1F', '.inf', 'y'];
  for (const version of ['1.1', '1.2'] as const) {
    for (const text of words) assert.deepEqual(parse(await yamlText({ text }), { version }), { text }, text);
  }
});

test('CSV quotes what would break a row', async () => {
  assert.equal(
    await csvText(
      ['a', 'b'],
      [
        ['x,y', 'say "hi"'],
        [null, 5],
        [{ n: 1 }, 'two\nlines'],
        [true, 0],
        [1.25e-7, 1e21],
      ],
    ),
    'a,b\n"x,y","say ""hi"""\n,5\n"{""n"":1}","two\nlines"\ntrue,0\n0.000000125,1000000000000000000000',
  );
});
