import { join } from 'node:path';
import { after } from 'node:test';
import type { Operation } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import fc from 'fast-check';
import { badRequests, type BadRequest } from '../../kernel/http/testing/bad-requests.ts';
import { askedOf, usualEncoding, type Values } from '../../kernel/http/testing/encodings.ts';
import type { Tested } from '../../kernel/process/testing/bad-requests.ts';
import { servedOperations } from '../served.ts';
import { passing, validValues } from './valid-requests.ts';
import { startWalk, type ArrayWalk } from './walk.ts';

const space = ['drives', 'raidGroups', 'pools', 'poolTags', 'volumes', 'volumeTags'];

/** About half of all operations. */
export function isOfSpace({ group }: Operation): boolean {
  return space.includes(group);
}

const byTime = { property: 'msg_time', direction: 'ASC' };

const badSorts: readonly unknown[] = [
  [{ property: 'size', direction: 'ASC' }],
  [{ property: 'msg_id; DROP TABLE users', direction: 'ASC' }],
  [{ property: 'constructor', direction: 'ASC' }],
  [{ property: 'x'.repeat(33), direction: 'ASC' }],
  [{ property: 'msg_time', direction: 'up' }],
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
    return { what: `an unknown sort as ${encoding}`, asked, field: 'sort' };
  });
}

/** An array with everything its operations need, for requests it must refuse. */
export async function testedArray(): Promise<Tested> {
  const walk: ArrayWalk = await startWalk({ after });
  const { managementUrl: url, folder } = walk.array.configuration;
  return {
    api: arrayApi,
    served: servedOperations(),
    start: () => Promise.resolve({ url, database: join(folder, 'array.db') }),
    signIn: 'users.login',
    valid: (operation) => validValues(operation, walk, walk.admin),
    isPassing: ({ id }) => passing.has(id),
    ask: (operation, values) => askedOf(operation, values, usualEncoding(operation)),
    spoil: (operation, values) => {
      const usual = badRequests(operation, values);
      if (!('sort' in operation.endpoint.params)) return usual;
      return fc.oneof({ weight: 4, arbitrary: usual }, withBadSort(operation, values));
    },
  };
}
