import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LifecycleRule } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import { readXml } from '../../xml-reader.ts';
import { xmlDocument } from '../../xml.ts';
import { lifecycleOfXml, lifecycleXml } from './lifecycle-xml.ts';

const POLICIES = ['two-copies', 'cold', 'Glacier 4+2'];

function policyOf(name: string): number {
  const index = POLICIES.indexOf(name);
  if (index < 0) throw new S3Error('InvalidStorageClass');
  return index;
}

function read(rules: string): LifecycleRule[] {
  return lifecycleOfXml(
    readXml(`<LifecycleConfiguration>${rules}</LifecycleConfiguration>`, 'LifecycleConfiguration'),
    policyOf,
  );
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
/** Each policy once, on the first day. */
function movesOf(more: object) {
  return fc
    .uniqueArray(fc.constantFrom(...POLICIES), { minLength: 1 })
    .map((names) => names.map((storageClass) => ({ storageClass, policy: policyOf(storageClass), days: 0, ...more })));
}

const rule = fc
  .tuple(
    fc.record({ id: text, enabled: fc.boolean(), prefix: fc.oneof(fc.constant(''), text) }),
    fc
      .record({ sizeGreaterThan: fc.nat(), sizeLessThan: days }, { requiredKeys: [] })
      .filter(({ sizeGreaterThan = -1, sizeLessThan = Infinity }) => sizeGreaterThan < sizeLessThan),
    fc.option(fc.record({ noncurrentDays: days, noncurrentKeep: fc.integer({ min: 1, max: 100 }) }), { nil: {} }),
    expiration,
    // Before everything else: those days begin at 1.
    fc.record({ transitions: movesOf({}), noncurrentTransitions: movesOf({ keep: 5 }) }, { requiredKeys: [] }),
  )
  .map(([head, sizes, noncurrent, expires, moves]) => [
    head,
    sizes,
    noncurrent,
    expires,
    'expireDate' in expires
      ? {
          ...moves,
          ...(moves.transitions && {
            transitions: moves.transitions.map(({ days: _, ...one }) => ({ ...one, date: 0 })),
          }),
        }
      : moves,
  ])
  .map((pieces) => Object.assign({}, ...pieces) as LifecycleRule);

test('rules read are the rules written', () => {
  fc.assert(
    fc.property(fc.uniqueArray(rule, { minLength: 1, maxLength: 4, selector: ({ id }) => id }), (rules) => {
      const document = xmlDocument('LifecycleConfiguration', lifecycleXml(rules));
      assert.deepEqual(lifecycleOfXml(readXml(document, 'LifecycleConfiguration'), policyOf), rules);
    }),
  );
});

test('a filter is shown in the form it was given in', () => {
  const rest = '<Status>Enabled</Status><Expiration><Days>1</Days></Expiration>';
  for (const filter of [
    '<Prefix>a</Prefix>',
    '<Prefix></Prefix>',
    '<Filter></Filter>',
    '<Filter><Prefix></Prefix></Filter>',
    '<Filter><Prefix>a</Prefix></Filter>',
    '<Filter><And><Prefix>a</Prefix></And></Filter>',
    '<Filter><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></Filter>',
    '<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>',
    '<Filter><And><Prefix>a</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter>',
  ]) {
    const rule = `<Rule><ID>x</ID>${filter}${rest}</Rule>`;
    assert.equal(lifecycleXml(read(rule)), rule);
  }
});

test('an element that does not belong, comes twice or holds no number is malformed', () => {
  const head = '<Filter><Prefix>a</Prefix></Filter><Status>Enabled</Status>';
  const expire = '<Expiration><Days>1</Days></Expiration>';
  for (const rule of [
    `${head}${expire}<Junk/>`,
    `${head}${expire}${expire}`,
    `${head}<Expiration><Days>1</Days><Junk>1</Junk></Expiration>`,
    `${head}<Expiration><Days>soon</Days></Expiration>`,
    `${head}<Expiration><Days>1.5</Days></Expiration>`,
    `${head}<NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays><Junk/></NoncurrentVersionExpiration>`,
    `${head}<AbortIncompleteMultipartUpload><DaysAfterInitiation>x</DaysAfterInitiation></AbortIncompleteMultipartUpload>`,
    `${head.replace('<Prefix>a</Prefix>', '<Junk>a</Junk>')}${expire}`,
    `${head.replace('<Prefix>a</Prefix>', '<And><Junk/></And>')}${expire}`,
    `${head.replace('<Prefix>a</Prefix>', '<Tag><Key>k</Key><Value>v</Value><Junk/></Tag>')}${expire}`,
  ])
    assert.equal(refused(rule), 'MalformedXML', rule);
  assert.throws(() => read(`<Junk/><Rule>${head}${expire}</Rule>`), { code: 'MalformedXML' });
});

test('numbers, sizes, names and prefixes keep to their limits', () => {
  const rule = (filter: string, days = '1', id = 'x') =>
    refused(
      `<ID>${id}</ID><Filter>${filter}</Filter><Status>Enabled</Status><Expiration><Days>${days}</Days></Expiration>`,
    );
  const sizes = (above: number, below: number) =>
    `<And><ObjectSizeGreaterThan>${above}</ObjectSizeGreaterThan><ObjectSizeLessThan>${below}</ObjectSizeLessThan></And>`;
  assert.equal(rule(sizes(5, 6)), 'accepted');
  assert.equal(rule(sizes(5, 5)), 'InvalidRequest');
  assert.equal(rule('', '-1'), 'InvalidArgument');
  assert.equal(rule('', '0'), 'InvalidArgument');
  assert.equal(rule('', '1', 'x'.repeat(256)), 'InvalidArgument');
  assert.equal(rule(`<Prefix>${'x'.repeat(1025)}</Prefix>`), 'InvalidRequest');
  assert.equal(rule(`<Tag><Key>${'k'.repeat(129)}</Key><Value>v</Value></Tag>`), 'InvalidTag');
  assert.equal(rule(`<Tag><Key>k</Key><Value>${'v'.repeat(257)}</Value></Tag>`), 'InvalidTag');
});

test('the older form, with a prefix and no filter, is read, too', () => {
  const [old] = read(
    '<Rule><Prefix>logs/</Prefix><Status>Disabled</Status><Expiration><Days>7</Days></Expiration></Rule>',
  );
  assert.deepEqual({ ...old, id: '' }, { id: '', enabled: false, prefix: 'logs/', form: 'prefix', expireDays: 7 });
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
    'InvalidStorageClass',
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
