import { percent } from '../../parts/format.ts';
import { isRebalancing, untilFull } from '../policies/words.ts';
import type { Account, AccountRequest, Controller, Drive, Policy, Settings } from '../records.ts';

/** Everything the overview of an administrator is made of. */
export interface ObjectFacts {
  readonly policies: readonly Policy[];
  readonly drives: readonly Drive[];
  readonly controllers: readonly Controller[];
  readonly accounts: readonly Account[];
  /** Those that wait. */
  readonly requests: readonly AccountRequest[];
  readonly settings: Pick<Settings, 'encryption' | 'smtp_host'>;
}

export interface Concern {
  readonly key: string;
  readonly isSevere: boolean;
  readonly text: string;
  readonly to: string;
}

const FULL_PERCENT = 85;

/** What a person should look at, the worst first. */
export function concernsOf(facts: ObjectFacts): Concern[] {
  const all = [
    ...facts.policies.flatMap(ofPolicy),
    ...facts.drives.flatMap(ofDrive),
    ...facts.controllers.flatMap(ofController),
    ...ofRequests(facts.requests),
    ...ofEncryption(facts.settings),
    ...facts.accounts.flatMap(ofAccount),
  ];
  return all.sort((a, b) => Number(b.isSevere) - Number(a.isSevere));
}

function ofPolicy(policy: Policy): Concern[] {
  const { name: key, display_name: name, health_status: health, capacity_mode: mode } = policy;
  const to = `/policies/${key}`;
  const concern = (isSevere: boolean, text: string): Concern => ({ key: `${key} ${text}`, isSevere, text, to });
  const share = Math.trunc(percent(policy.used_capacity, policy.capacity));
  return [
    ...(policy.state === 'uninitialized'
      ? [concern(true, `Storage policy ${name} has too few drives to keep anything.`)]
      : []),
    ...(health === 'critical'
      ? [concern(true, `Storage policy ${name} would lose data if one more drive failed.`)]
      : []),
    ...(health === 'degraded' ? [concern(true, `Storage policy ${name} has lost redundancy.`)] : []),
    ...(mode === 'emergency'
      ? [concern(true, `Storage policy ${name} is full and takes nothing new. Add drives.`)]
      : mode === 'alert'
        ? [concern(true, `Storage policy ${name}: ${untilFull(policy.full_in_min)}, as it grows now. Add drives.`)]
        : share >= FULL_PERCENT
          ? [concern(false, `Storage policy ${name} is ${share}% full. Add drives.`)]
          : []),
  ];
}

function ofDrive({ name, display_name: title, status, storage_policy: policy }: Drive): Concern[] {
  if (status === 'Normal') return [];
  const next = status === 'Absent' ? 'has not joined yet' : 'has failed; replace it';
  const text = `Drive ${title}${policy === null ? '' : ` of ${policy}`} ${next}.`;
  return [{ key: name, isSevere: status === 'Failed', text, to: `/drives/${name}` }];
}

function ofController({ name, status, integrity, proxy_state: proxy }: Controller): Concern[] {
  const to = '/controllers';
  if (status === 'failed') return [{ key: name, isSevere: true, text: `Controller ${name} has failed.`, to }];
  if (proxy !== 'OBJ_NORMAL')
    return [{ key: name, isSevere: true, text: `Controller ${name} serves no requests.`, to }];
  if (integrity === 'normal') return [];
  return [{ key: name, isSevere: false, text: `Not all services of controller ${name} run.`, to }];
}

function ofRequests({ length: count }: readonly AccountRequest[]): Concern[] {
  if (count === 0) return [];
  const text = count === 1 ? 'One request for an account waits.' : `${count} requests for accounts wait.`;
  return [{ key: 'requests', isSevere: false, text, to: '/requests' }];
}

function ofEncryption({ encryption }: ObjectFacts['settings']): Concern[] {
  if (encryption !== 'locked') return [];
  const text = 'Encrypted objects cannot be read until the encryption password is given.';
  return [{ key: 'encryption', isSevere: true, text, to: '/settings' }];
}

function ofAccount({ id, name, enabled, state }: Account): Concern[] {
  if (state !== 'normal' || enabled === 'True') return [];
  return [
    { key: id, isSevere: false, text: `Account ${name} is disabled; its data is billed on.`, to: `/accounts/${id}` },
  ];
}

/** Policies in the order in which they fill up; those that do not grow by how full they are. */
export function byFullness(policies: readonly Policy[]): Policy[] {
  const left = ({ full_in_min: minutes }: Policy) => minutes ?? Number.POSITIVE_INFINITY;
  const share = ({ used_capacity: used, capacity }: Policy) => percent(used, capacity);
  return policies.toSorted((a, b) => (left(a) === left(b) ? share(b) - share(a) : left(a) - left(b)));
}

export function moving(policies: readonly Policy[]): Policy[] {
  return policies.filter(isRebalancing);
}
