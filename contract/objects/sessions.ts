import type { Group } from '../endpoint.ts';
import { name, secret, text, withDefault } from '../params.ts';
import { int, str } from '../records.ts';
import { response } from '../reply.ts';
import { arrayServiceFields, sessionEndpoints } from '../sessions.ts';
import { objectsRoles, signedIn } from './access.ts';

/** The account that administers the array. */
export const SYSTEM_ACCOUNT = 'objs_admin';

export const sessions = sessionEndpoints({
  signedIn,
  owners: signedIn,
  reply: response,
  roles: objectsRoles,
  credentials: {
    username: text('Username or mail address', { max: 254, example: 'dana' }),
    password: secret('The present password', { max: 128, example: 'Pick-Your-0wn' }),
    account: withDefault(name('Name or id of the account', { example: 'webhosting' }), SYSTEM_ACCOUNT),
  },
  userFields: { user_id: int(), account_id: str(), account_name: str() },
  serviceFields: arrayServiceFields,
  errors: ['account_disabled', 'password_expired'],
}) satisfies Group;
