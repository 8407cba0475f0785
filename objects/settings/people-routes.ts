import { badParameter, checkMailAddress, checkMailServer } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { ArraySettings } from './service.ts';

type Served = Pick<ObjectsHandlers<'settings'>, 'setPasswordRules' | 'setMailServer'>;

/** How people sign in, and how they are written to. */
export function peopleSettingRoutes(settings: ArraySettings): Served {
  return {
    setPasswordRules: async (input, { actor }) => {
      const { settings: now } = settings.current();
      const {
        expire_password: expirePassword = now.expirePassword,
        expire_password_after: expirePasswordAfterSeconds = now.expirePasswordAfterSeconds,
        password_history: passwordHistory = now.passwordHistory,
      } = input;
      const life = expirePassword ? `expire after ${expirePasswordAfterSeconds} seconds` : 'do not expire';
      const title = `Passwords ${life}; ${passwordHistory} past ones cannot be chosen again.`;
      await settings.change({ expirePassword, expirePasswordAfterSeconds, passwordHistory }, title, actor.username);
      return {};
    },
    setMailServer: async (input, { actor }) => {
      const { smtp_host: host, smtp_port: port, smtp_secure: secure } = input;
      const { smtp_user: user = null, smtp_password: password = null, smtp_from: from = null } = input;
      if (from !== null) checkMailAddress('smtp_from', from);
      if (password !== null && user === null) throw badParameter('smtp_user', 'is required with smtp_password');
      if (host !== '') await checkMailServer(host);
      await settings.setMailServer(host === '' ? null : { host, port, secure, user, password, from }, actor.username);
      return {};
    },
  };
}
