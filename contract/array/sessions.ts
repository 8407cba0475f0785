import type { Group } from '../endpoint.ts';
import { name, secret } from '../params.ts';
import { int } from '../records.ts';
import { response } from '../reply.ts';
import { arrayServiceFields, sessionEndpoints } from '../sessions.ts';
import { arrayRoles, signedIn } from './access.ts';

export const sessions = sessionEndpoints({
  signedIn,
  owners: signedIn,
  reply: response,
  roles: arrayRoles,
  credentials: {
    username: name('Name to sign in with', { example: 'jo' }),
    password: secret('Password', { max: 255, example: 'correct horse' }),
  },
  userFields: { user_id: int() },
  serviceFields: arrayServiceFields,
  errors: [],
}) satisfies Group;
