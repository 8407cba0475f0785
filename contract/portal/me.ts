import { endpoint, type Group } from '../endpoint.ts';
import { optional, secret } from '../params.ts';
import { int, listOf, nullable, record, shownOnce } from '../records.ts';
import { success } from '../reply.ts';
import { signedIn } from './access.ts';
import { totpCode } from './credentials.ts';
import { email, password, User } from './users.ts';

const Me = record('Me', {
  ...User.properties,
  recovery_codes_left: nullable(int('Recovery codes that were not used; null without two-factor sign-in')),
});

export const me = {
  get: endpoint('GET', '/me', {
    summary: 'Show yourself',
    access: signedIn,
    reply: success({ data: Me }),
  }),
  update: endpoint('PUT', '/me', {
    summary: 'Change your mail address or password; a new password ends your other sessions and revokes the token',
    access: signedIn,
    params: {
      email: optional(email),
      password: optional(password),
      current_password: optional(
        secret('The password so far; needed for a new one', { max: 256, example: 'correct horse battery' }),
      ),
    },
    reply: success({ data: Me }),
    errors: ['invalid_credentials', 'too_many_attempts'],
  }),
  startTotp: endpoint('POST', '/me/totp', {
    summary: 'Make a secret for an authenticator app; it is asked for once a code of it was confirmed',
    access: signedIn,
    // Switching it off takes a code, which proves more, and keeps the password out of the address of a DELETE.
    params: {
      current_password: secret('Yours: who finds a browser signed in must not lock you out', {
        max: 256,
        example: 'correct horse battery',
      }),
    },
    reply: success({
      data: record('TotpSecret', {
        secret: shownOnce('secret of the authenticator app', 'For apps that it is typed into'),
        otpauth_uri: shownOnce('address of the authenticator app', 'For apps that read it as a QR code'),
      }),
    }),
    errors: ['state_conflict', 'invalid_credentials', 'too_many_attempts'],
  }),
  confirmTotp: endpoint('POST', '/me/totp/confirm', {
    summary: 'Switch two-factor sign-in on with a code of the app; the reply shows the recovery codes, this once',
    access: signedIn,
    params: { code: totpCode },
    reply: success({
      data: record('RecoveryCodes', {
        recovery_codes: listOf(shownOnce('recovery codes', 'Signs in once when the device is lost')),
      }),
    }),
    errors: ['state_conflict', 'wrong_code', 'too_many_attempts'],
  }),
  removeTotp: endpoint('DELETE', '/me/totp', {
    summary: 'Switch two-factor sign-in off with a code',
    access: signedIn,
    params: { code: totpCode },
    reply: success({}),
    errors: ['state_conflict', 'wrong_code', 'too_many_attempts'],
  }),
} satisfies Group;
