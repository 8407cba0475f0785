import type { PortalHandlers } from '../handlers.ts';
import type { SignIn } from './service.ts';

export function tokenRoutes(signIn: SignIn): PortalHandlers {
  return {
    tokens: {
      get: async (credentials, { ip }) => ({ data: { token: await signIn.token(credentials, ip) } }),
      reset: async (credentials, { ip }) => ({ data: { token: await signIn.resetToken(credentials, ip) } }),
    },
  };
}
