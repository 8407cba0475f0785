import type { Log } from '@granary/kernel';
import type { Answers } from '@granary/kernel/threads';
import type { Caller, Refused } from '@granary/protocols/objects';
import type { IndexCommit, StorageManager } from '@granary/storage/objects';
import type { ControllerSpec } from '../../controller-spec.ts';
import type { EngineManagement } from '../../management.ts';
import { LimitSlots } from '../../serving/rate-limits.ts';
import { commitAnswer } from './commits.ts';
import type { AccountLimit, MainCalls } from './protocol.ts';

interface AnswerOptions {
  readonly management: EngineManagement;
  readonly manager: Pick<StorageManager, 'nextSegment' | 'driveFailed' | 'onDamage'>;
  /** Also for bodies that come along with their change. */
  readonly commit: IndexCommit;
  readonly log: Log;
}

/** What the main thread answers to the controller of a specification. */
export function mainAnswers(options: AnswerOptions): (spec: ControllerSpec) => Answers<MainCalls> {
  const { management, manager, commit, log } = options;
  const { directory } = management;
  const slots = new LimitSlots();
  const limitOf = (account: string): AccountLimit => ({
    slot: slots.of(account),
    changesPerSecond: directory.ownLimit(account),
  });
  const limited = <T extends { readonly caller: Caller }>(answer: T | Refused) =>
    'caller' in answer ? { ...answer, limit: limitOf(answer.caller.account) } : answer;
  return ({ name }) => ({
    commit: commitAnswer(commit),
    s3Key: (key) => limited(directory.byS3Key(key)),
    token: (token) => limited(directory.byToken(token)),
    signIn: ({ account, username, password, ip }) => directory.signIn(account, username, password, ip),
    account: (idOrName) => {
      const account = directory.account(idOrName);
      return account ? { ...account, limit: limitOf(account.id) } : null;
    },
    accountsByMail: (email) => directory.accountsByMail(email),
    notificationSecret: (seed) => directory.notificationSecret(seed),
    setAccountMetadata: async ({ account, changes }) => {
      await directory.setAccountMetadata(account, changes);
      return null;
    },
    nextSegment: (drive) => manager.nextSegment(drive),
    driveFailed: ({ drive, reason }) => {
      manager.driveFailed(drive, reason);
      return null;
    },
    damaged: ({ partition }) => {
      manager.onDamage(partition);
      return null;
    },
    activity: (activity) => {
      management.onActivity(name, activity);
      return null;
    },
    log: ({ level, text, facts }) => {
      log[level]({ controller: name, ...facts }, text);
      return null;
    },
  });
}
