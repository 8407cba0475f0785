import { secret, text } from '../params.ts';

/** What a portal user signs in with. */
export const credentials = {
  username: text('The portal user', { max: 128, example: 'admin' }),
  password: secret("The user's password", { max: 256, example: 'correct horse battery' }),
};

/** For users who have switched two-factor sign-in on. */
export const totpCode = secret('The six digits of the authenticator app, or a recovery code', {
  max: 32,
  example: '123456',
});
