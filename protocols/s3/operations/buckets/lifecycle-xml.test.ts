import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LifecycleRule } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import { readXml } from '../../xml-reader.ts';
import { xmlDocument } from '../../xml.ts';
import { lifecycleOfXml, lifecycleXml } from './lifecycle-xml.ts';

function read(rules: string): LifecycleRule[] {
  return lifecycleOfXml(readXml(`<LifecycleConfiguration>${rules}</LifecycleConfiguration>`, 'LifecycleConfiguration'));
}

function refused(rule: string): string {
  try {
    read(`<Rule>${rule}</Rule>`);
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
  return 'accepted';
}

const DAY = 86_400_000;
const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 });
const days = fc.integer({ min: 1, max: 10_000 });
const expiration = fc.oneof(
  fc.record({ expireDays: days }),
  fc.record({ expireDate: days.map((day) => day * DAY) }),
  fc.record({ expireDays: days, tags: fc.dictionary(text, text, { minKeys: 1, maxKeys: 3, noNullPrototype: true }) }),
);
const rule = fc
  .tuple(
    fc.record({ id: text, enabled: fc.boolean(), prefix: fc.oneof(fc.constant(''), text) }),
    fc.record({ sizeGreaterThan: fc.nat(), sizeLessThan: days }, { requiredKeys: [] }),
    fc.option(fc.record({ noncurrentDays: days, noncurrentKeep: fc.integer({ min: 1, max: 100 }) }), { nil: {} }),
    expiration,
  )
  .map((pieces) => Object.assign({}, ...pieces) as LifecycleRule);

test('rules read are the rules written', () => {
  fc.assert(
    fc.property(fc.uniqueArray(rule, { minLength: 1, maxLength: 4, selector: ({ id }) => id }), (rules) => {
      const document = xmlDocument('LifecycleConfiguration', lifecycleXml(rules));
      assert.deepEqual(lifecycleOfXml(readXml(document, 'LifecycleConfiguration')), rules);
    }),
  );
});

test('the older form, with a prefix and no filter, is read, too', () => {
  const [old] = read(
    '<Rule><Prefix>logs/</Prefix><Status>Disabled</Status><Expiration><Days>7</Days></Expiration></Rule>',
  );
  assert.deepEqual({ ...old, id: '' }, { id: '', enabled: false, prefix: 'logs/', expireDays: 7 });
  assert.match(old?.id ?? '', /^[0-9a-f-]{36}$/);
});

test('a rule that cannot be kept is refused by name', () => {
  const head = '<Filter><Prefix>a</Prefix></Filter><Status>Enabled</Status>';
  const expire = '<Expiration><Days>1</Days></Expiration>';
  assert.equal(refused(head + expire), 'accepted');
  assert.equal(refused(head), 'InvalidRequest');
  assert.equal(refused(`<Status>Enabled</Status>${expire}`), 'MalformedXML');
  assert.equal(refused(`<Filter/><Status>On</Status>${expire}`), 'MalformedXML');
  assert.equal(
    refused(`${head}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`),
    'NotImplemented',
  );
  assert.equal(refused(`${head}<Expiration><Days>0</Days></Expiration>`), 'InvalidArgument');
  assert.equal(refused(`${head}<Expiration><Date>2030-01-01T10:00:00Z</Date></Expiration>`), 'InvalidArgument');
  assert.equal(refused(`${head}<Expiration><Days>1</Days><Date>2030-01-01</Date></Expiration>`), 'MalformedXML');
  assert.equal(refused(`${head}<NoncurrentVersionExpiration/>`), 'MalformedXML');
  const two = '<Filter><Prefix>a</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></Filter><Status>Enabled</Status>';
  assert.equal(refused(two + expire), 'MalformedXML');
  assert.equal(
    refused(two.replace('<Filter>', '<Filter><And>').replace('</Filter>', '</And></Filter>') + expire),
    'accepted',
  );
  const same = `<Rule><ID>x</ID>${head}${expire}</Rule>`;
  assert.throws(() => read(same + same), /unique/);
});
