import type { Operation } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import fc from 'fast-check';
import { testBadRequests, type BadRequest, type Values } from '../kernel/process/testing/bad-requests.ts';
import { badRequests } from '../kernel/http/testing/bad-requests.ts';
import { askedOf, usualEncoding } from '../kernel/http/testing/encodings.ts';
import { servedOperations, startArray } from './index.ts';

const page = { start: 0, limit: 10 };
const byTime = { property: 'msg_time', direction: 'ASC' };

const badSorts: readonly unknown[] = [
  [{ property: 'size', direction: 'ASC' }],
  [{ property: 'msg_id; DROP TABLE users', direction: 'ASC' }],
  [{ property: 'constructor', direction: 'ASC' }],
  [{ property: 'x'.repeat(33), direction: 'ASC' }],
  [{ property: 'msg_time', direction: 'asc' }],
  [{ property: 'msg_time', direction: 'ASC, msg_id' }],
  [{ property: 'msg_time' }],
  [{ direction: 'ASC' }],
  [{ ...byTime, property: { toString: 1 } }],
  [byTime, null],
  Array(5).fill(byTime),
];

function withBadSort(operation: Operation, values: Values): fc.Arbitrary<BadRequest> {
  return fc.tuple(fc.constantFrom(...badSorts), fc.constantFrom('json', 'query')).map(([sort, encoding]) => {
    const text = encoding === 'json' ? sort : JSON.stringify(sort);
    const asked = askedOf(operation, { ...values, sort: text }, encoding);
    return { what: `a sort nobody knows as ${encoding}`, asked, field: 'sort' };
  });
}

await testBadRequests({
  api: arrayApi,
  served: servedOperations(),
  start: startArray,
  database: 'array.db',
  signIn: 'users.login',
  valid: {
    'users.login': { user: 'dana', password: 'first passcode' },
    'users.list': page,
    'users.create': { username: 'jo', email: 'jo@example.org', password: 'correct horse', role: 'user' },
    'users.resetAccessKey': { name: 'dana' },
    'drives.list': page,
    'drives.get': { id: 'volume-00000001' },
    'drives.listFree': page,
    'controllers.list': page,
    'controllers.listVirtualNetworks': page,
    'messages.list': { ...page, severity: 6, attr_key: 'user', attr_value: 'dana', sort: [byTime] },
  },
  // Forms write a list piece by piece; in a query, a structure is JSON.
  ask: (operation, values) => askedOf(operation, values, 'sort' in values ? 'json' : usualEncoding(operation)),
  spoil: (operation, values) => {
    const { sort, ...rest } = values;
    const usual = badRequests(operation, sort === undefined ? values : { ...rest, sort: JSON.stringify(sort) });
    return sort === undefined ? usual : fc.oneof({ weight: 4, arbitrary: usual }, withBadSort(operation, values));
  },
});
