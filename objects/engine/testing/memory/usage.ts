import type { AccountUsage, StoredUsage } from '@granary/storage/object-store';

interface Step {
  readonly account: string;
  readonly policy: number;
  readonly buckets: number;
  readonly objects: number;
  readonly bytes: number;
  readonly at: number;
}

const DAY_MS = 86_400_000;

/** What accounts stored over time: every change is kept, and figures are computed from their definition. */
export class MemoryUsage {
  #steps: Step[] = [];

  add(step: Step): void {
    this.#steps.push(step);
  }

  now(account: string): AccountUsage {
    const policies = this.#policiesOf(account).map((policy) => ({
      policy,
      ...sumOf(this.#steps.filter((step) => step.account === account && step.policy === policy)),
    }));
    return { ...sumOf(this.#steps.filter((step) => step.account === account)), policies };
  }

  over(account: string, from: number, to: number): StoredUsage[] {
    const start = Math.floor(from / DAY_MS) * DAY_MS;
    return this.#policiesOf(account).flatMap((policy) => {
      const steps = this.#steps.filter((one) => one.account === account && one.policy === policy && one.at < to);
      if (steps.length === 0) return [];
      const area = steps.reduce((sum, { at, bytes }) => sum + BigInt(bytes) * BigInt(to - Math.max(at, start)), 0n);
      return [{ account, policy, byteMilliseconds: area, ...sumOf(steps) }];
    });
  }

  drop(account: string): void {
    this.#steps = this.#steps.filter((step) => step.account !== account);
  }

  /** Bytes of all accounts under a policy. */
  bytesOf(policy: number): number {
    return sumOf(this.#steps.filter((step) => step.policy === policy)).bytes;
  }

  #policiesOf(account: string): number[] {
    const policies = this.#steps.filter((step) => step.account === account).map(({ policy }) => policy);
    return [...new Set(policies)].sort((a, b) => a - b);
  }
}

function sumOf(steps: readonly Step[]): { buckets: number; objects: number; bytes: number } {
  const sum = (of: 'buckets' | 'objects' | 'bytes') => steps.reduce((total, step) => total + step[of], 0);
  return { buckets: sum('buckets'), objects: sum('objects'), bytes: sum('bytes') };
}
