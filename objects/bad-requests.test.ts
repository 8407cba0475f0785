import assert from 'node:assert/strict';
import { objectsApi } from '@granary/contract/objects';
import { startHosted, testBadRequests, type Values } from '../kernel/process/testing/bad-requests.ts';
import { badRequests } from '../kernel/http/testing/bad-requests.ts';
import { askedOf, usualEncoding } from '../kernel/http/testing/encodings.ts';
import { servedOperations, startObjects } from './index.ts';

const valid: Readonly<Record<string, Values>> = {
  'users.authenticate': { account: 'objs_admin', user: 'dana', password: 'first passcode' },
  'roles.list': {},
  'messages.list': { severity: 6, attr_key: 'account', attr_value: 'objs_admin', start: 0, limit: 10 },
  'settings.get': {},
};

await testBadRequests({
  api: objectsApi,
  served: servedOperations(),
  start: () => startHosted(startObjects, 'objects.db'),
  signIn: 'users.authenticate',
  valid: ({ id }) => {
    const values = valid[id];
    assert.ok(values, `${id} is served: add a request of it that succeeds`);
    return values;
  },
  ask: (operation, values) => askedOf(operation, values, usualEncoding(operation)),
  spoil: badRequests,
});
