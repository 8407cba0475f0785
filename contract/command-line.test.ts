import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from './array/index.ts';
import { commandLine, curlLine } from './command-line.ts';
import type { Operation } from './endpoint.ts';
import { portalApi } from './portal/index.ts';

const createVolume: Operation = {
  id: 'volumes.create',
  group: 'volumes',
  name: 'create',
  endpoint: arrayApi.groups.volumes.create,
};
const order: Operation = {
  id: 'arrays.create',
  group: 'arrays',
  name: 'create',
  endpoint: portalApi.groups.arrays.create,
};
const getArray: Operation = { id: 'arrays.get', group: 'arrays', name: 'get', endpoint: portalApi.groups.arrays.get };
const createUser: Operation = {
  id: 'users.create',
  group: 'users',
  name: 'create',
  endpoint: portalApi.groups.users.create,
};

test('a call is shown as the line one would type', () => {
  assert.equal(
    commandLine(
      createVolume,
      { name: "Ann's books", capacity: '5G', block: 'YES' },
      { prefix: 'array', array: 'tank' },
    ),
    "granary array volumes create --name 'Ann'\\''s books' --capacity 5G --block YES --array tank",
  );
  assert.equal(
    commandLine(order, { name: 'tank', drives: { SSD_10GB: 2 }, moderate: false }),
    'granary arrays create --name tank --drives SSD_10GB=2 --no-moderate',
  );
  assert.equal(commandLine(getArray, { array_id: 7 }), 'granary arrays get 7');
});

test('no line shows a secret', () => {
  const input = { username: 'ann', password: 'correct horse' };
  assert.equal(commandLine(createUser, input), 'granary users create --username ann --password -');
  assert.doesNotMatch(curlLine(createUser, input, { url: 'http://h', header: 'X-Token: $TOKEN' }), /correct horse/);
});

test('curl gets the parameters where the method has them', () => {
  const place = { url: 'http://h:1', header: 'X-Token: $TOKEN' };
  assert.equal(
    curlLine(order, { name: 'tank' }, place),
    `curl -s -H "X-Token: $TOKEN" -X POST -H 'Content-Type: application/json' -d '{"name":"tank"}' http://h:1/api/arrays`,
  );
  assert.equal(
    curlLine({ ...getArray, endpoint: portalApi.groups.arrays.list }, { name: 'a b' }, place),
    `curl -s -H "X-Token: $TOKEN" 'http://h:1/api/arrays?name=a%20b'`,
  );
});
