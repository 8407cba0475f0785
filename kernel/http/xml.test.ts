import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations, type Api, type Operation } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import fc from 'fast-check';
import { cpuMs } from '../../testing/timing.ts';
import { fail } from '../errors.ts';
import { errorAnswer } from './envelope.ts';
import { readXml } from './xml-reader.ts';
import { serve, Thing, thing } from './testing/server.ts';
import { xmlRoot } from './xml-root.ts';
import { singular, writeXml } from './xml-writer.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';
const headers = { 'x-token': 'member' };

const thingXml =
  '<id type="integer">7</id><name>Ada &amp; &lt;Co&gt;</name><big type="boolean">true</big><ratio type="float">0.5</ratio>' +
  '<made-at type="datetime">2026-01-01 00:00:00 UTC</made-at><used-at type="datetime" nil="true"/>' +
  '<tags type="array"><tag>a</tag><tag>b</tag></tags><sizes><ssd type="integer">2</ssd></sizes>';

test('an array answers under a root named after the operation, without a response level', async (t) => {
  const { app } = await serve(t, 'array');
  const one = await app.inject({ url: '/api/things/7.xml', headers });
  const show = `<show-thing-response><status type="integer">0</status><thing>${thingXml}</thing></show-thing-response>`;
  assert.equal(one.body, `${HEAD}${show}\n`);
  const many = await app.inject({ url: '/api/things.xml', headers });
  assert.equal(
    many.body,
    `${HEAD}<show-things-response><status type="integer">0</status><things type="array"><thing>${thingXml}</thing></things>` +
      '<count type="integer">12</count></show-things-response>\n',
  );
});

test('the portal answers under <hash>', async (t) => {
  const { app } = await serve(t, 'portal');
  const reply = await app.inject({ url: '/api/things/7.xml', headers });
  assert.equal(reply.body, `${HEAD}<hash><status>success</status><thing>${thingXml}</thing></hash>\n`);
});

test('errors are <status> and <status-msg> on an array, and the error record on the portal', async (t) => {
  const array = await serve(t, 'array');
  const wrong = await array.app.inject({ method: 'POST', url: '/api/things.xml', headers });
  assert.equal(
    wrong.body,
    `${HEAD}<create-thing-response><status type="integer">7</status><status-msg>name is required.</status-msg></create-thing-response>\n`,
  );
  const later = await array.app.inject({ method: 'POST', url: '/api/things/1/grow.xml', headers });
  assert.match(
    later.body,
    /<grow-thing-response><status type="integer">1073751835<\/status><status-msg>The request has been/,
  );
  const lost = await array.app.inject({ url: '/api/nowhere.xml', headers });
  assert.match(lost.body, /<response><status type="integer">4<\/status><status-msg>There is no GET \/api\/nowhere;/);

  const portal = await serve(t, 'portal');
  const bad = await portal.app.inject({ method: 'POST', url: '/api/things.xml', headers });
  assert.equal(
    bad.body,
    `${HEAD}<hash><status>error</status><message>name is required.</message>` +
      '<errors type="array"><error><field>name</field><message>is required</message></error></errors></hash>\n',
  );
});

test('times are marked wherever the schema has them, nullable, in lists and in maps', () => {
  const marked = { type: 'string', format: 'utc' };
  const nullable = { anyOf: [marked, { type: 'null' }] };
  const schema = {
    properties: { at: nullable, all: { items: nullable }, by: { patternProperties: { '^.*$': marked } } },
  };
  const xml = writeXml('r', { at: 'x', all: ['y', null], by: { who: 'z' }, plain: 'p' }, schema);
  const time = (name: string, value: string) => `<${name} type="datetime">${value}</${name}>`;
  assert.equal(
    xml,
    `${HEAD}<r>${time('at', 'x')}<all type="array">${time('all-item', 'y')}<all-item type="datetime" nil="true"/></all>` +
      `<by>${time('who', 'z')}</by><plain>p</plain></r>\n`,
  );
});

test('a field without a value is left out, one that is null says so', () => {
  assert.equal(writeXml('r', { gone: undefined, none: null }), `${HEAD}<r><none nil="true"/></r>\n`);
});

test('keys that XML does not allow as names are changed into ones it does', () => {
  const xml = writeXml('r', { '1st': 1, 'a b<c>': 2, über: 3, '': 4 });
  assert.deepEqual(readXml(xml), { n1st: '1', a_b_c_: '2', n_ber: '3', n: '4' });
});

test('lists name their items in the singular', () => {
  const names = {
    volumes: 'volume',
    storage_policies: 'storage_policy',
    addresses: 'address',
    data: 'data_item',
    access: 'access_item',
  };
  for (const [many, one] of Object.entries(names)) assert.equal(singular(many), one);
});

test('types follow the declaration, whatever the value is; keys of maps stay as they are', () => {
  const number = { type: 'number' };
  const schema = {
    properties: {
      price: number,
      count: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      code: { type: 'string' },
      by_type: { type: 'object', patternProperties: { '^.*$': number } },
    },
  };
  const xml = writeXml('r', { price: 2, count: null, code: 'x_y', by_type: { sata_1000: 3 } }, schema);
  assert.equal(
    xml,
    `${HEAD}<r><price type="float">2</price><count type="integer" nil="true"/><code>x_y</code>` +
      '<by-type><sata_1000 type="float">3</sata_1000></by-type></r>\n',
  );
});

test('roots follow the verb and the path, never an internal name', () => {
  for (const [call, wanted] of Object.entries({
    'GET /volumes': 'show_volumes',
    'GET /raid_groups/{id}': 'show_raid_group',
    'GET /drives/free': 'show_free_drives',
    'GET /vcontrollers': 'show_vcontrollers',
    'GET /vcontrollers/virtual_networks': 'show_virtual_networks',
    'GET /volumes/{id}/servers': 'show_servers',
    'GET /consistency_groups/{migration_cg_id}/show_migration': 'show_migration',
    'POST /volumes/{id}/tags': 'create_tag',
    'PUT /volumes/{id}/tags/{tag_key}': 'update_tag',
    'DELETE /flc_policies/{id}': 'delete_flc_policy',
    'POST /volumes/{id}/rename': 'rename_volume',
    'POST /remote_arrays/discover': 'discover_remote_array',
    'POST /flc/create_category': 'create_category',
    'DELETE /volumes/{id}/export_name': 'delete_export_name_item',
    'DELETE /volumes/{id}/delete_volume_from_recycle_bin': 'delete_volume_from_recycle_bin',
  })) {
    const operation = operations(arrayApi).find(({ endpoint }) => `${endpoint.method} ${endpoint.path}` === call);
    assert.ok(operation, call);
    assert.equal(xmlRoot(arrayApi, operation), `${wanted}_response`);
  }
  assert.equal(xmlRoot({ dialect: 'portal' } as Api, {} as Operation), 'hash');
});

test('any text that XML can carry comes back as it was', () => {
  const carried = fc
    .string({ unit: 'binary', maxLength: 50 })
    .filter((text) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text));
  const special = fc.string({
    unit: fc.constantFrom(
      '&',
      '<',
      '>',
      ';',
      '#',
      'x',
      'amp',
      ']]>',
      '<![CDATA[',
      '\r',
      '\n',
      '\t',
      ' ',
      '"',
      "'",
      'é',
      '😀',
    ),
  });
  fc.assert(
    fc.property(fc.oneof(carried, special), (text) => {
      assert.deepEqual(readXml(writeXml('r', { some_text: text, more: { inner: text }, all: [text] })), {
        some_text: text,
        more: { inner: text },
        all: [text],
      });
    }),
    { numRuns: 200 },
  );
});

test('text that XML cannot carry leaves a mark, not a broken document', () => {
  assert.deepEqual(readXml(writeXml('r', { a: 'x\u0000\u001b\ufffey' })), { a: 'x\ufffd\ufffd\ufffdy' });
});

test('values are read by structure: lists, nil, repeats, dashes', () => {
  const read = (inner: string) => readXml(`<r>${inner}</r>`);
  assert.deepEqual(read('<a-b>1</a-b><c/><d nil="true"/>'), { a_b: '1', c: '', d: null });
  assert.deepEqual(read('<l type="array"/><m type="array"><i><x>1</x></i></m>'), { l: [], m: [{ x: '1' }] });
  assert.deepEqual(read('<a>1</a><b>2</b><a>3</a><a>4</a>'), { a: ['1', '3', '4'], b: '2' });
  assert.deepEqual(read('<!-- a note --><a>&#65;&#x42;&quot;</a><?php echo ?>'), { a: 'AB"' });
  assert.deepEqual(readXml('<r>text alone</r>'), {});
  assert.deepEqual(readXml('<r type="array"><a>1</a></r>'), {});
});

test('character references that name no character are refused', () => {
  for (const reference of ['&#0;', '&#x110000;', '&#99999999999;', '&#1a;', '&nbsp;', '&constructor;', '&__proto__;'])
    assert.throws(() => readXml(`<r><a>${reference}</a></r>`), /is not a known character/, reference);
});

test('hostile documents are refused or read in little time', async () => {
  const million = 1_000_000;
  const hostile = [
    '<!--'.repeat(million / 4),
    `<r>${'<![CDATA['.repeat(million / 9)}</r>`,
    '<?x '.repeat(million / 4),
    '<'.repeat(million),
    '<a>'.repeat(million / 3),
    `<r>${'<a/>'.repeat(million / 8)}</r>`,
    `<r ${'a="'.repeat(million / 3)}></r>`,
    `<r><a>&${'a'.repeat(million)}</a></r>`,
    `<r>${' '.repeat(million)}`,
  ];
  for (const text of hostile) {
    const ms = await cpuMs(() => {
      try {
        readXml(text, { lengthMax: 2 * million, elementsMax: million, depthMax: 32 });
      } catch {
        // Refused is as good as read.
      }
    });
    assert.ok(ms < 1000, `${ms} ms for ${text.slice(0, 20)}`);
  }
});

test('a list of thousands is written in little time', async () => {
  const things = Array.from({ length: 5000 }, () => thing);
  const schema = { properties: { things: { items: Thing } } };
  const ms = await cpuMs(() => {
    assert.equal(writeXml('r', { things }, schema).split('<thing>').length - 1, 5000);
  });
  assert.ok(ms < 1000, `${ms} ms`);
});

test('an error has its status on top where a success has it there', () => {
  const answer = (wrapper?: string) => {
    const reply = { kind: 'record', constants: { status: 0 }, fields: {}, ...(wrapper && { wrapper }) } as const;
    return errorAnswer({ dialect: 'array' } as Api, fail('invalid_credentials'), 'json', 'x', reply).body as string;
  };
  const response = { status: 5, message: 'Invalid credentials.' };
  assert.deepEqual(JSON.parse(answer()), { status: 5, status_msg: response.message, response });
  assert.deepEqual(JSON.parse(answer('response')), { response });
});
