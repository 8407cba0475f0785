import { KIND } from '../store/layout.ts';
import type { Context } from './context.ts';
import { type Inode, loadInode, saveInode, type Time } from './inode.ts';

const DAY_SECONDS = 86_400;

/** As Linux does by default (`relatime`): only what tells that a file was read since it changed, or once a day. */
export function isAccessDue(inode: Inode, now: Time): boolean {
  const { accessed, modified, changed } = inode;
  return !isAfter(accessed, modified) || !isAfter(accessed, changed) || now.seconds - accessed.seconds >= DAY_SECONDS;
}

/** Durable with the next commit. Nobody waits for it, and nobody minds if there is no room for it. */
export function recordAccess(context: Context, number: number): void {
  if (context.store.device.readOnly || !context.updatesAccessTimes()) return;
  try {
    const done = context.store.change((transaction) => {
      if (transaction.get(number, KIND.attributes, 0) === undefined) return;
      const inode = loadInode(transaction, number);
      inode.accessed = context.now();
      saveInode(transaction, inode);
    });
    if (done instanceof Promise) done.catch(() => undefined);
  } catch {
    // The time of an access is no reason to refuse it.
  }
}

function isAfter(one: Time, other: Time): boolean {
  return one.seconds > other.seconds || (one.seconds === other.seconds && one.nanoseconds > other.nanoseconds);
}
