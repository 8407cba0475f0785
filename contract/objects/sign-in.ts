import { endpoint, type Group } from '../endpoint.ts';
import { name, secret, text } from '../params.ts';
import { shownOnce, str, utc } from '../records.ts';
import { envelope, response } from '../reply.ts';
import { anyone } from './access.ts';
import { User } from './user-records.ts';

const account = name('Name or id of the account', { example: 'webhosting' });
const user = text('Username or mail address', { max: 254, example: 'dana' });
const password = secret('The present password', { max: 128, example: 'Pick-Your-0wn' });
const newPassword = secret('The password from now on', { max: 128, example: 'Pick-An0ther' });

/** A status and a sentence with nothing around them. */
const statusReply = envelope({ status: 0 }, { status_msg: str() });

/** What a user does before there is an access key to call with. */
export const signIn = {
  authenticate: endpoint('POST', '/users/authenticate', {
    summary: 'Sign in: returns the user with the access key, the token and the S3 keys',
    access: anyone,
    params: { account, user, password },
    reply: response({ user: User }),
    errors: ['invalid_credentials', 'account_disabled', 'password_expired', 'too_many_attempts'],
  }),
  resetToken: endpoint('POST', '/users/reset_token', {
    summary: 'Replace the token of the data path',
    access: anyone,
    params: { user, password, account },
    reply: response({ token: shownOnce('token'), token_expire_at: utc() }),
    errors: ['invalid_credentials', 'account_disabled', 'password_expired', 'too_many_attempts'],
  }),
  changePassword: endpoint('POST', '/users/password', {
    summary: 'Replace a password by another',
    access: anyone,
    params: { account, user, password, new_password: newPassword },
    reply: response({ user: User, csrf: str(), message: str() }),
    errors: ['invalid_credentials', 'account_disabled', 'password_rules', 'too_many_attempts'],
  }),
  usePasswordCode: endpoint('POST', '/users/{username}/password_code', {
    summary: 'Set a password with a temporary code',
    access: anyone,
    params: {
      code: secret('The temporary code, good once and for a day', { max: 128, example: 'f3a9c1d2' }),
      new_password: newPassword,
      username: name('The user', { example: 'dana' }),
      account,
    },
    reply: statusReply,
    errors: ['invalid_credentials', 'account_disabled', 'password_rules', 'too_many_attempts'],
  }),
  resetPassword: endpoint('POST', '/users/reset_password', {
    summary: 'Mail a temporary code to a user who forgot the password',
    access: anyone,
    params: { account, username: name('The user', { example: 'dana' }) },
    reply: statusReply,
    errors: ['too_many_requests'],
  }),
} satisfies Group;
