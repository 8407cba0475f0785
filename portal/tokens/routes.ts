import type { PortalHandlers } from '../handlers.ts';
import type { SignIn } from './service.ts';

export function tokenRoutes(signIn: SignIn): PortalHandlers {
  return {
    tokens: {
      get: async ({ username, password }, { ip }) => ({ data: { token: await signIn.token(username, password, ip) } }),
      reset: async ({ username, password }, { ip }) => ({
        data: { token: await signIn.resetToken(username, password, ip) },
      }),
    },
  };
}
