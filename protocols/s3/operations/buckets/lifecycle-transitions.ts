import type { LifecycleRule, NoncurrentTransition, Transition } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import { element, field } from '../../xml.ts';
import type { XmlElement } from '../../xml-reader.ts';
import { STANDARD } from '../storage-class.ts';
import { malformed, midnightOf, numberOf } from './lifecycle-values.ts';

const MOST_KEPT = 100;

/** The index of the storage policy that a class names; throws InvalidStorageClass. */
export type PolicyOf = (storageClass: string) => number;

type Transitions = Pick<LifecycleRule, 'transitions' | 'noncurrentTransitions'>;

export function transitionsOf(rule: XmlElement, policyOf: PolicyOf): Transitions {
  const transitions = rule.all('Transition').map((one) => transitionOf(one, policyOf));
  const noncurrent = rule.all('NoncurrentVersionTransition').map((one) => noncurrentOf(one, policyOf));
  for (const all of [transitions, noncurrent]) {
    if (new Set(all.map(({ policy }) => policy)).size < all.length)
      throw new S3Error('InvalidRequest', 'The transitions of a rule must name different storage classes.');
  }
  if (transitions.some(({ days }) => days !== undefined) && transitions.some(({ date }) => date !== undefined))
    throw mixed();
  return {
    ...(transitions.length > 0 && { transitions }),
    ...(noncurrent.length > 0 && { noncurrentTransitions: noncurrent }),
  };
}

function transitionOf(transition: XmlElement, policyOf: PolicyOf): Transition {
  transition.onlyOnce('Days', 'Date', 'StorageClass');
  const [days, date] = [transition.text('Days')?.trim(), transition.text('Date')?.trim()];
  if ((days === undefined) === (date === undefined)) throw malformed('<Transition> has <Days> or <Date>.');
  return {
    ...classOf(transition, policyOf),
    ...(days !== undefined && { days: numberOf('Days', days, 0) }),
    ...(date !== undefined && { date: midnightOf(date) }),
  };
}

function noncurrentOf(transition: XmlElement, policyOf: PolicyOf): NoncurrentTransition {
  transition.onlyOnce('NoncurrentDays', 'NewerNoncurrentVersions', 'StorageClass');
  const keep = transition.text('NewerNoncurrentVersions');
  return {
    ...classOf(transition, policyOf),
    days: numberOf('NoncurrentDays', transition.need('NoncurrentDays'), 0),
    ...(keep !== undefined && { keep: numberOf('NewerNoncurrentVersions', keep, 1, MOST_KEPT) }),
  };
}

function classOf(transition: XmlElement, policyOf: PolicyOf): Pick<Transition, 'storageClass' | 'policy'> {
  const storageClass = transition.need('StorageClass').trim();
  // Nothing moves back to where it was put, as with S3.
  if (storageClass === STANDARD) {
    throw new S3Error('InvalidStorageClass', `Nothing moves to ${STANDARD}: objects are there when they are put.`, {
      StorageClassRequested: storageClass,
    });
  }
  return { storageClass, policy: policyOf(storageClass) };
}

/** What is removed cannot move later. Days and dates of one rule cannot be compared: S3 takes one kind in a rule. */
export function checkOrder(rule: LifecycleRule): void {
  const { expireDays, expireDate, noncurrentDays, transitions = [], noncurrentTransitions = [] } = rule;
  for (const { days, date } of transitions) {
    if ((expireDays !== undefined && date !== undefined) || (expireDate !== undefined && days !== undefined))
      throw mixed();
    if (expireDays !== undefined && days !== undefined && expireDays <= days)
      throw tooEarly('Days', 'Expiration', 'Transition');
    if (expireDate !== undefined && date !== undefined && expireDate <= date)
      throw tooEarly('Date', 'Expiration', 'Transition');
  }
  if (noncurrentTransitions.some(({ days }) => noncurrentDays !== undefined && noncurrentDays <= days))
    throw tooEarly('NoncurrentDays', 'NoncurrentVersionExpiration', 'NoncurrentVersionTransition');
}

function mixed(): S3Error {
  return new S3Error(
    'InvalidRequest',
    "Found mixed 'Date' and 'Days' based Expiration and Transition actions in lifecycle rule.",
  );
}

function tooEarly(what: string, later: string, earlier: string): S3Error {
  return new S3Error(
    'InvalidArgument',
    `'${what}' in the ${later} action must be greater than '${what}' in the ${earlier} action.`,
  );
}

export function transitionsXml({ transitions = [], noncurrentTransitions = [] }: LifecycleRule): string {
  const current = transitions.map(({ days, date, storageClass }) =>
    element(
      'Transition',
      field('Days', days) +
        field('Date', date === undefined ? undefined : new Date(date).toISOString()) +
        field('StorageClass', storageClass),
    ),
  );
  const noncurrent = noncurrentTransitions.map(({ days, keep, storageClass }) =>
    element(
      'NoncurrentVersionTransition',
      field('NoncurrentDays', days) + field('NewerNoncurrentVersions', keep) + field('StorageClass', storageClass),
    ),
  );
  return [...current, ...noncurrent].join('');
}
