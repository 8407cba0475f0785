import { sessionRoutes, Sessions, sessionSettingRoutes, type Tx } from '@granary/kernel';
import type { ObjectsActor } from './actor.ts';
import { AccountDeletion } from './accounts/deletion.ts';
import { accountRoutes } from './accounts/routes.ts';
import { ObjectAccountService } from './accounts/service.ts';
import { deleteGrantsOf } from './destinations/grant-repository.ts';
import { ArrayDirectory } from './directory/directory.ts';
import { Mailbox } from './mail/mailbox.ts';
import { EventNotices } from './mail/notices.ts';
import { requestRoutes } from './requests/routes.ts';
import { AccountRequests } from './requests/service.ts';
import { roleRoutes } from './roles/routes.ts';
import { sessionPeople } from './sessions/people.ts';
import type { ArraySettings } from './settings/service.ts';
import type { PeopleTools } from './tools.ts';
import { Keys } from './users/keys.ts';
import { Passwords } from './users/passwords.ts';
import { deleteUsersOf, userNumbersOf } from './users/repository.ts';
import { accountUserRoutes, userRoutes } from './users/routes.ts';
import { ObjectUserService } from './users/service.ts';
import { SignIns } from './users/sign-ins.ts';

/** Accounts, users and their mail, with their dependencies. */
export function createPeople(tools: PeopleTools, settings: ArraySettings) {
  const { configuration, publicUrls } = tools;
  const chosen = () => settings.current().settings;
  const keys = new Keys({ ...tools, tokenMinutes: () => chosen().tokenMinutes });
  const passwords = new Passwords({ ...tools, settings: chosen });
  const mailbox = new Mailbox(tools, { server: () => settings.mailServer() });
  const notices = new EventNotices(tools, mailbox);
  const sessions = new Sessions(tools, () => `objects_${configuration().internalName}`);
  const signOutUsersOf = (tx: Tx, account: string) => {
    for (const number of userNumbersOf(tx, account)) sessions.signOut(tx, `user:${number}`);
  };
  const users = new ObjectUserService(tools, { keys, passwords, sessions });
  const signIns = new SignIns(tools, { keys, passwords, mailbox, sessions });
  const globalLimit = () => {
    const { rateLimitEnabled, rateLimit } = chosen();
    return rateLimitEnabled && rateLimit > 0 ? rateLimit : null;
  };
  const accounts = new ObjectAccountService(tools, { globalLimit, signOutUsersOf });
  const deletion = new AccountDeletion(tools, {
    deleteGrantsOf,
    deleteUsersOf: (tx, account) => {
      signOutUsersOf(tx, account);
      return deleteUsersOf(tx, account);
    },
  });
  const requests = new AccountRequests(tools, { accounts, users, mailbox });
  const signedIn = sessionPeople(tools, signIns);
  const directory = new ArrayDirectory(tools, { signIns, accountNames: () => chosen().tenantNameInUrl });
  const managementUrl = () => configuration().managementUrl;
  return {
    users,
    signIns,
    sessions,
    accounts,
    deletion,
    directory,
    mailbox,
    handlers: {
      accounts: { ...accountRoutes({ accounts, deletion }, tools), ...accountUserRoutes(users) },
      requests: requestRoutes(requests),
      users: userRoutes({
        users,
        signIns,
        settings,
        publicUrl: () => publicUrls()[0] ?? managementUrl(),
        managementUrl,
      }),
      roles: roleRoutes,
      sessions: sessionRoutes({
        ...tools,
        sessions,
        people: signedIn,
        service: () => ({ locked_down: configuration().lockedDown }),
      }),
      settings: sessionSettingRoutes(sessions),
    },
    /** Records that a user had secrets shown to a page. */
    recordLook: ({ id, username }: Pick<ObjectsActor, 'id' | 'username'>, what: string) =>
      sessions.recordLook({ username, subject: signedIn.find(id)?.subject ?? id }, what),
    /** Mails begin to go out. */
    start() {
      mailbox.start();
      notices.start();
      sessions.start();
    },
    async stop() {
      sessions.stop();
      await notices.stop();
      await mailbox.stop();
    },
  };
}
