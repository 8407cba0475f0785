import { KIND } from '../store/layout.ts';
import type { Context } from './context.ts';
import { type Inode, loadInode, saveInode, type Time } from './inode.ts';

const DAY_SECONDS = 86_400;

/** As Linux does by default (`relatime`): only if the file changed since its last access, or once a day. */
export function isAccessDue(inode: Inode, now: Time): boolean {
  const { accessed, modified, changed } = inode;
  return !isAfter(accessed, modified) || !isAfter(accessed, changed) || now.seconds - accessed.seconds >= DAY_SECONDS;
}

/** Durable with the next commit. No operation waits for it, and it is skipped on a full device. */
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
    // An access does not fail because its time cannot be recorded.
  }
}

function isAfter(one: Time, other: Time): boolean {
  return one.seconds > other.seconds || (one.seconds === other.seconds && one.nanoseconds > other.nanoseconds);
}
