import {
  notificationsOf,
  type Arguments,
  type Bucket,
  type Happened,
  type Notification,
} from '@granary/storage/object-store';

type Waiting = Notification & { readonly dueAt: number };

/** Notifications that wait to be delivered. */
export class NotificationQueue {
  #waiting: Waiting[] = [];
  #last = 0;

  add(bucket: Bucket, happened: Happened): void {
    for (const one of notificationsOf(bucket, happened))
      this.#waiting.push({ ...one, number: (this.#last += 1), attempts: 0, dueAt: happened.at });
  }

  addresses(): string[] {
    return [...new Set(this.#waiting.map(({ address }) => address))].sort();
  }

  due(address: string, now: number, limit: number): Notification[] {
    return this.#waiting
      .filter((one) => one.address === address && one.dueAt <= now)
      .sort((one, other) => one.dueAt - other.dueAt || one.number - other.number)
      .slice(0, limit)
      .map(({ dueAt: _, ...one }) => one);
  }

  end({ numbers }: Arguments<'endNotifications'>): null {
    this.#waiting = this.#waiting.filter(({ number }) => !numbers.includes(number));
    return null;
  }

  postpone({ number: wanted, until }: Arguments<'postponeNotification'>): null {
    this.#waiting = this.#waiting.map((one) =>
      one.number === wanted ? { ...one, dueAt: until, attempts: one.attempts + 1 } : one,
    );
    return null;
  }

  trim({ address: wanted, keep }: Arguments<'trimNotifications'>): number {
    const numbers = this.#waiting.filter(({ address }) => address === wanted).map(({ number }) => number);
    const given = numbers.slice(0, Math.max(0, numbers.length - keep));
    this.end({ numbers: given });
    return given.length;
  }

  drop(account: string): void {
    this.#waiting = this.#waiting.filter((one) => one.account !== account);
  }
}
