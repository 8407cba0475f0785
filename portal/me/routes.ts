import type { Tx } from '@granary/kernel';
import type { PortalHandlers } from '../handlers.ts';
import type { UserId } from '../ids.ts';
import type { TotpService } from '../totp/service.ts';
import type { PortalUserService } from '../users/service.ts';
import type { UserView } from '../users/view.ts';

interface MeParts {
  readonly users: PortalUserService;
  readonly totp: TotpService;
  /** All of a user but the one named. */
  readonly endSessions: (tx: Tx, userId: UserId, except?: number) => void;
}

export function meRoutes({ users, totp, endSessions }: MeParts): PortalHandlers {
  const shown = (user: UserView) => {
    return { ...user, recovery_codes_left: totp.recoveryCodesLeft(user.id) };
  };
  return {
    me: {
      get: (_, { actor }) => ({ data: shown(users.get(actor.userId)) }),
      update: async (change, { actor, ip }) => ({ data: shown(await users.updateSelf(change, actor, ip)) }),
      startTotp: async ({ current_password: password }, { actor, ip }) => {
        await users.verifySelf(password, actor, ip);
        const { secret, uri } = await totp.start(ownerOf(actor));
        return { data: { secret, otpauth_uri: uri } };
      },
      confirmTotp: async ({ code }, { actor }) => ({
        data: {
          recovery_codes: await totp.confirm(ownerOf(actor), code, (tx) =>
            endSessions(tx, actor.userId, actor.sessionId),
          ),
        },
      }),
      removeTotp: async ({ code }, { actor }) => {
        await totp.remove(ownerOf(actor), code);
        return {};
      },
    },
  };
}

function ownerOf({ userId: id, username }: { readonly userId: number; readonly username: string }) {
  return { id, username };
}
