import { addressesOfInterface, badParameters } from '@granary/kernel';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config/schema.ts';
import type { WantedDrives } from '../inventory/allocation.ts';
import type { HostedRecord, KeptSpec } from './repository.ts';

/**
 * Refuses a spec this cloud cannot follow. What was wrong with the array's spec before is let pass: the config may
 * have changed since it was placed, and it must still be possible to stop it.
 */
export function checkSpec(config: Config, spec: KeptSpec, before: HostedRecord | undefined): void {
  const known = new Set(before ? problemsOf(config, before.spec) : []);
  const problems = problemsOf(config, spec).filter((problem) => !known.has(problem));
  if (before && spec.product !== before.product) problems.push('product cannot change once the array is placed');
  if (before && spec.zone !== before.spec.zone) problems.push('zone cannot change once the array is placed');
  if (problems.length > 0)
    throw badParameters(problems.map((message) => ({ field: 'spec', message: `at ${message}` })));
}

function problemsOf(config: Config, spec: KeptSpec): string[] {
  return [
    ...unknownNames(config, spec),
    ...engineProblems(config, spec),
    ...policyProblems(config, spec),
    ...interfaceProblems(spec),
  ];
}

function unknownNames(config: Config, spec: KeptSpec): string[] {
  const zones = config.zones.map(({ name }) => name);
  const types = config.drive_types.map(({ key }) => key);
  const appEngines = config.app_engines.map(({ key }) => key);
  return [
    ...notAmong('zone', spec.zone === null ? [] : [spec.zone], zones),
    ...notAmong('proxy_zones', spec.proxy_zones, zones),
    ...notAmong('drives', Object.keys(spec.drives), types),
    ...notAmong('app_engine', spec.app_engine === null ? [] : [spec.app_engine], appEngines),
  ];
}

function notAmong(field: string, values: readonly string[], allowed: readonly string[]): string[] {
  return values
    .filter((value) => !allowed.includes(value))
    .map((value) => `${field}: ${value} is not one of ${allowed.join(', ')}`);
}

function engineProblems({ engine_types, features }: Config, spec: KeptSpec): string[] {
  if (spec.product === 'object_storage')
    return features.object_storage ? [] : ['product: this cloud offers no object storage'];
  const engine = engine_types.find(({ key }) => key === spec.engine);
  if (!engine) return [`engine: must be one of ${engine_types.map(({ key }) => key).join(', ')}`];
  const drives = countDrives(spec.drives);
  const cacheGb = engine.base_cache_gb + spec.extra_cache_gb;
  return [
    ...(drives > engine.max_drives ? [`drives: ${engine.key} takes at most ${engine.max_drives}, not ${drives}`] : []),
    ...(cacheGb > engine.max_cache_gb
      ? [`extra_cache_gb: ${engine.key} takes at most ${engine.max_cache_gb - engine.base_cache_gb}`]
      : []),
  ];
}

function policyProblems({ policy_types }: Config, { policies, drives }: KeptSpec): string[] {
  const ids = policy_types.map(({ id }) => String(id));
  const needed: Record<string, number> = {};
  for (const policy of policies)
    for (const [type, count] of Object.entries(policy.drives)) needed[type] = (needed[type] ?? 0) + count;
  const names = policies.map(({ name }) => name);
  return [
    ...notAmong(
      'policies',
      policies.map(({ type_id }) => String(type_id)),
      ids,
    ),
    ...(new Set(names).size < names.length ? ['policies: two have the same name'] : []),
    ...Object.entries(needed)
      .filter(([type, count]) => count > (drives[type] ?? 0))
      .map(
        ([type, count]) => `policies: they need ${count} drives of type ${type}, but drives has ${drives[type] ?? 0}`,
      ),
  ];
}

function interfaceProblems({ interfaces }: KeptSpec): string[] {
  const ids = interfaces.map(({ id }) => id);
  return [
    ...(new Set(ids).size < ids.length ? ['interfaces: two have the same id'] : []),
    ...interfaces.flatMap((one) =>
      addressesOfInterface(one)
        .filter((address) => !ipaddr.isValid(address))
        .map((address) => `interfaces: ${address} of interface ${one.id} is not an IP address`),
    ),
  ];
}

function countDrives(drives: Readonly<Record<string, number>>): number {
  return Object.values(drives).reduce((sum, count) => sum + count, 0);
}

/** The drives a spec asks for, by type and by the policy they serve. */
export function wantedDrives({ drives, policies }: KeptSpec): WantedDrives[] {
  const rest = { ...drives };
  const forPolicies = policies.flatMap((policy) =>
    Object.entries(policy.drives).map(([type, count]) => {
      rest[type] = (rest[type] ?? 0) - count;
      return { type, policy: policy.name, count };
    }),
  );
  const others = Object.entries(rest).map(([type, count]) => ({ type, policy: null, count }));
  return [...forPolicies, ...others].filter(({ count }) => count > 0);
}
