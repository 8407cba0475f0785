import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '../errors.ts';
import { arrayRefusals } from './array.ts';
import { errorFamilies, refusals } from './index.ts';
import { objectsRefusals } from './objects.ts';
import { portalRefusals } from './portal.ts';

test('a message of a family has a name that no other error has', () => {
  const tables = [portalRefusals, arrayRefusals, objectsRefusals, errorCatalogue];
  const names = tables.flatMap((table) => Object.keys(table));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  assert.deepEqual(twice, []);
});

test('every family has messages, but for those whose messages are made of what was found', () => {
  const used = new Set<string>(Object.values(refusals).map(({ family }) => family));
  const unused = Object.keys(errorFamilies).filter((family) => !used.has(family));
  assert.deepEqual(unused, ['bad_parameter', 'metadata_damaged']);
});

test('a message is a sentence', () => {
  for (const [name, { message }] of Object.entries(refusals))
    assert.match(message, /^[A-Z{].*([.:`]|\{[\w ]+\})$/, name);
});
