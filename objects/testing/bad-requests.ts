import { join } from 'node:path';
import { after } from 'node:test';
import type { Operation } from '@granary/contract';
import { objectsApi } from '@granary/contract/objects';
import fc from 'fast-check';
import { badRequests, type BadRequest } from '../../kernel/http/testing/bad-requests.ts';
import { askedOf, usualEncoding, type Values } from '../../kernel/http/testing/encodings.ts';
import type { Tested } from '../../kernel/process/testing/bad-requests.ts';
import { servedOperations } from '../served.ts';
import { alwaysRefused, validValues } from './valid-requests.ts';
import { startWalk } from './walk.ts';

/** About a third of all operations each. */
export const isOfPeople = ({ group }: Operation) => ['accounts', 'requests', 'users', 'roles'].includes(group);
export const isOfSettings = ({ group }: Operation) => group === 'settings';

/** Structures whose form a schema alone knows: what is wrong inside them is named by their own name. */
const badStructures: Readonly<Record<string, readonly unknown[]>> = {
  sort: [
    [{ property: 'size', direction: 'ASC' }],
    [{ property: 'id; DROP TABLE users', direction: 'ASC' }],
    [{ property: 'constructor', direction: 'ASC' }],
    [{ property: 'id', direction: 'up' }],
    [{ property: 'id' }],
    [null],
    Array(6).fill({ property: 'id', direction: 'ASC' }),
  ],
  drives: [
    [],
    [{ type: 'SSD_10GB' }],
    [{ type: 'SSD_10GB', quantity: 0 }],
    [{ type: 'SSD_10GB', quantity: 1.5 }],
    [{ type: '', quantity: 1 }],
    [{ type: 'x'.repeat(65), quantity: 1 }],
    [{ quantity: 1 }],
    [null],
    { type: 'SSD_10GB', quantity: 1 },
  ],
  arguments: [
    {},
    [],
    { username: 'kim', account: 'wanted', email: 'kim@example.org' },
    { username: 'kim', account: 'x'.repeat(129), email: 'kim@example.org', password: 'Pick-Your-0wn' },
    { username: '', account: 'wanted', email: 'kim@example.org', password: 'Pick-Your-0wn' },
    { username: 'kim', account: 'wanted', email: ['kim@example.org'], password: 'Pick-Your-0wn' },
  ],
};

function withBadStructure(operation: Operation, values: Values, name: string): fc.Arbitrary<BadRequest> {
  const drawn = fc.tuple(fc.constantFrom(...(badStructures[name] ?? [])), fc.constantFrom('json', 'query'));
  return drawn.map(([value, encoding]) => {
    const sent = encoding === 'json' ? value : JSON.stringify(value);
    const asked = askedOf(operation, { ...values, [name]: sent }, encoding);
    return { what: `a bad ${name} as ${encoding}`, asked, field: name };
  });
}

/** An array with everything its operations need, for requests it must refuse. */
export async function testedObjects(): Promise<Tested> {
  const walk = await startWalk({ after });
  const { url, configuration } = walk.objects;
  return {
    api: objectsApi,
    served: servedOperations(),
    start: () => Promise.resolve({ url, database: join(configuration.folder, 'objects.db') }),
    signIn: 'users.authenticate',
    valid: (operation) => validValues(operation, walk, walk.admin),
    alwaysRefused: ({ id }) => alwaysRefused.get(id),
    ask: (operation, values) => askedOf(operation, values, usualEncoding(operation)),
    spoil,
  };
}

function spoil(operation: Operation, values: Values): fc.Arbitrary<BadRequest> {
  // Codes for other users are guesses, and those who guess are kept waiting: too long for these tests.
  const isGuess = ({ what }: BadRequest) => operation.id === 'users.usePasswordCode' && what.startsWith('username is');
  const usual = badRequests(operation, values).filter((bad) => !isGuess(bad));
  const name = Object.keys(badStructures).find((one) => one in operation.endpoint.params);
  if (name === undefined) return usual;
  // The usual ones are no maps; these are lists or have names of their own.
  const others = usual.filter(({ what }) => !what.startsWith(`a bad ${name} as`));
  return fc.oneof({ weight: 4, arbitrary: others }, withBadStructure(operation, values, name));
}
