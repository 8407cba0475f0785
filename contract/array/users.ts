import { endpoint, type Group } from '../endpoint.ts';
import { choice, name, optional, page, secret, text, withDefault } from '../params.ts';
import { int, listOf, maybe, nullable, oneOf, record, shownOnce, str, utc } from '../records.ts';
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
export const UserWithKey = record('UserWithKey', {
  ...userFields,
  access_key: shownOnce('access key', 'Sent as X-Access-Key'),
});

const username = name('Name to sign in with', { example: 'jo' });
const email = text('Mail address', {
  max: 254,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  form: 'a mail address',
  example: 'jo@example.org',
});
const newPassword = (description: string) => secret(description, { min: 8, max: 255, example: 'correct horse' });

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
      email: optional(email),
      password: optional(newPassword('First password; a random one is made when left out')),
      role: withDefault(choice(arrayRoles, 'What they may do'), 'user'),
    },
    reply: response({
      user: UserWithKey,
      initial_password: maybe(shownOnce('password', 'The random one, shown this once')),
    }),
    errors: ['name_taken', 'limit_reached'],
  }),
  update: endpoint('PUT', '/users/{name}', {
    summary: 'Change a user; what is not sent stays as it is',
    access: adminOnly,
    params: {
      name: username,
      email: optional(email),
      password: optional(newPassword('New password; the access key stays')),
      role: optional(choice(arrayRoles, 'What they may do')),
    },
    reply: response({ user: User }),
    errors: ['user_not_found', 'state_conflict'],
  }),
  delete: endpoint('DELETE', '/users/{name}', {
    summary: 'Remove a user; their access key stops working at once',
    access: adminOnly,
    params: { name: username },
    reply: response({}),
    errors: ['user_not_found', 'state_conflict'],
  }),
  changePassword: endpoint('POST', '/users/password', {
    summary: 'Change your own password; the access key stays',
    access: signedIn,
    params: {
      password: secret('The password so far', { max: 255, example: 'correct horse' }),
      new_password: newPassword('The new one'),
    },
    reply: response({}),
    errors: ['invalid_credentials', 'too_many_attempts', 'user_not_found'],
  }),
  resetAccessKey: endpoint('POST', '/users/{name}/access_key', {
    summary:
      'Give a user a new access key; the old one stops working at once. Users do it for themselves, by key or password',
    access: signedIn,
    params: {
      name: username,
      password: optional(secret("The user's password, in place of a key", { max: 255 })),
    },
    reply: response({ user: UserWithKey }),
    errors: ['user_not_found', 'not_allowed', 'invalid_credentials', 'too_many_attempts'],
  }),
} satisfies Group;
