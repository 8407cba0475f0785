import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';
import { conformancePage } from './page.ts';
import { SECTIONS } from './table.ts';

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

const rows = SECTIONS.flatMap((section) => section.rows);

test('every row of the conformance page names a test that is there', () => {
  for (const row of rows) {
    const [file = '', name = ''] = row.test.split(' › ', 2);
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    assert.ok(source.includes(`test('${name}'`) || source.includes(`test("${name}"`), row.test);
    assert.equal(row.why === undefined, row.answer === 'served', `${row.operation}: what is not served says why`);
  }
});

test('the page in docs is the one that the table makes', () => {
  const page = readFileSync(new URL('../../../docs/swift-conformance.md', import.meta.url), 'utf8');
  assert.equal(page, conformancePage(), 'run node protocols/swift/conformance/main.ts');
});

interface Info {
  readonly swift: Readonly<Record<string, number>>;
  readonly bulk_delete: Readonly<Record<string, number>>;
  readonly symlink: Readonly<Record<string, unknown>>;
}

test('every claim of /info has a row here, and its limits are those that hold', async () => {
  const info = JSON.parse((await swift.ask('/info', { token: null })).text) as Info;
  const claimed = rows.flatMap((row) => row.info ?? []);
  assert.deepEqual(claimed.toSorted(), Object.keys(info).toSorted());
  const limits = info.swift;
  const name = (length: number) => 'n'.repeat(length);
  const { max_container_name_length: container = 0, max_object_name_length: object = 0 } = limits;
  assert.equal((await swift.ask(`/${name(container)}`, { method: 'PUT' })).status, 201);
  assert.equal((await swift.ask(`/${name(container + 1)}`, { method: 'PUT' })).status, 400);
  await swift.ask('/c', { method: 'PUT' });
  assert.equal((await swift.put(`/c/${name(object)}`, '')).status, 201);
  assert.equal((await swift.put(`/c/${name(object + 1)}`, '')).status, 400);
  const meta = async (headers: Record<string, string>) => (await swift.put('/c/meta', '', headers)).status;
  const { max_meta_name_length: label = 0, max_meta_value_length: value = 0, max_meta_count: count = 0 } = limits;
  assert.equal(await meta({ [`x-object-meta-${name(label)}`]: name(value) }), 201);
  assert.equal(await meta({ [`x-object-meta-${name(label + 1)}`]: 'x' }), 400);
  assert.equal(await meta({ 'x-object-meta-a': name(value + 1) }), 400);
  const many = (length: number) => Object.fromEntries(Array.from({ length }, (_, at) => [`x-object-meta-${at}`, 'x']));
  assert.deepEqual([await meta(many(count)), await meta(many(count + 1))], [201, 400]);
  for (const [path, limit = 0] of [
    ['', limits['account_listing_limit']],
    ['/c', limits['container_listing_limit']],
  ] as const) {
    assert.notEqual((await swift.ask(`${path}?limit=${limit}`)).status, 412);
    assert.equal((await swift.ask(`${path}?limit=${limit + 1}`)).status, 412);
  }
  assert.deepEqual(info.symlink, { symloop_max: 2, static_links: true });
});

test('discovery needs no token', async () => {
  assert.equal((await swift.ask('/healthcheck', { token: null })).text, 'OK');
  assert.equal((await swift.ask('/info', { token: null, method: 'HEAD' })).status, 200);
});
