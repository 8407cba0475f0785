import { endpoint, type Group } from '../endpoint.ts';
import { choice, name, optional, page, secret, text, withDefault } from '../params.ts';
import { int, listOf, maybe, nullable, oneOf, record, str, utc } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, anyone, arrayRoles, signedIn } from './access.ts';
import { count } from './shared.ts';

const userFields = {
  id: int(),
  username: str(),
  email: nullable(str()),
  role: oneOf(...arrayRoles),
  created_at: utc(),
};

export const User = record('User', userFields);
/** For the user and the administrator only. */
export const UserWithKey = record('UserWithKey', { ...userFields, access_key: str('Sent as X-Access-Key') });

const username = name('Name to sign in with', { example: 'jo' });

export const users = {
  login: endpoint('POST', '/users/login', {
    summary: 'Sign in: get the access key that other calls carry',
    access: anyone,
    params: {
      user: { ...username, aliases: ['username'] },
      password: secret('Password', { max: 255, example: 'correct horse' }),
    },
    reply: response({ user: UserWithKey }),
    errors: ['invalid_credentials', 'too_many_attempts'],
  }),
  list: endpoint('GET', '/users', {
    summary: 'List the users of the array',
    access: signedIn,
    params: page,
    reply: response({ users: listOf(User), count }),
  }),
  create: endpoint('POST', '/users', {
    summary: 'Let one more person use the array',
    access: adminOnly,
    params: {
      username,
      email: optional(text('Mail address', { max: 254, pattern: '^[^@\\s]+@[^@\\s]+$', example: 'jo@example.org' })),
      password: optional(secret('First password; a random one is made when left out', { min: 8, max: 255 })),
      role: withDefault(choice(arrayRoles, 'What they may do'), 'user'),
    },
    reply: response({ user: UserWithKey, initial_password: maybe(str('The random one, shown this once')) }),
    errors: ['name_taken', 'limit_reached'],
  }),
  resetAccessKey: endpoint('POST', '/users/{name}/access_key', {
    summary: 'Give a user a new access key; the old one stops working at once',
    access: adminOnly,
    params: { name: username },
    reply: response({ user: UserWithKey }),
    errors: ['user_not_found'],
  }),
} satisfies Group;
