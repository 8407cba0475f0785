import { objectsApi } from '@granary/contract/objects';
import { testBadRequests } from '../kernel/process/testing/bad-requests.ts';
import { badRequests } from '../kernel/http/testing/bad-requests.ts';
import { askedOf, usualEncoding } from '../kernel/http/testing/encodings.ts';
import { servedOperations, startObjects } from './index.ts';

await testBadRequests({
  api: objectsApi,
  served: servedOperations(),
  start: startObjects,
  database: 'objects.db',
  signIn: 'users.authenticate',
  valid: {
    'users.authenticate': { account: 'objs_admin', user: 'dana', password: 'first passcode' },
    'roles.list': {},
    'messages.list': { severity: 6, attr_key: 'account', attr_value: 'objs_admin', start: 0, limit: 10 },
    'settings.get': {},
  },
  ask: (operation, values) => askedOf(operation, values, usualEncoding(operation)),
  spoil: badRequests,
});
