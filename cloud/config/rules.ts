import ipaddr from 'ipaddr.js';
import { rangesOverlap } from './range.ts';
import type { Config } from './schema.ts';

/** What a schema cannot say: what names what, and what must be no smaller than what. */
export function brokenRules(config: Config): string[] {
  return [
    ...repeats(config),
    ...danglingNames(config),
    ...badRanges(config),
    ...badEngines(config),
    ...badPolicyTypes(config),
    ...missingFeatures(config),
  ];
}

function repeats({ zones, nodes, drive_types, engine_types, app_engines, policy_types }: Config): string[] {
  return [
    ...repeated('zones', 'id', zones),
    ...repeated('zones', 'name', zones),
    ...repeated('nodes', 'name', nodes),
    ...repeated('drive_types', 'id', drive_types),
    ...repeated('drive_types', 'key', drive_types),
    ...repeated('engine_types', 'id', engine_types),
    ...repeated('engine_types', 'nova_id', engine_types),
    ...repeated('engine_types', 'key', engine_types),
    ...repeated('app_engines', 'key', app_engines),
    ...repeated('policy_types', 'id', policy_types),
  ];
}

function repeated<T>(list: string, field: keyof T & string, entries: readonly T[]): string[] {
  const seen = new Set<unknown>();
  return entries.flatMap((entry, index) => {
    const value = entry[field];
    if (!seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [`${list}[${index}].${field}: ${String(value)} stands there twice; give each entry its own`];
  });
}

function danglingNames({ zones, nodes, drive_types, app_engines }: Config): string[] {
  const zoneNames = zones.map(({ name }) => name);
  const typeKeys = drive_types.map(({ key }) => key);
  const problems = nodes.flatMap((node, index) => [
    ...(zoneNames.includes(node.zone) ? [] : [unknown(`nodes[${index}].zone`, node.zone, zoneNames)]),
    ...Object.keys(node.drives)
      .filter((key) => !typeKeys.includes(key))
      .map((key) => unknown(`nodes[${index}].drives`, key, typeKeys)),
  ]);
  if (app_engines.filter((engine) => engine.default).length > 1)
    problems.push('app_engines: more than one has "default": true; keep one');
  return problems;
}

function unknown(path: string, value: string, allowed: readonly string[]): string {
  return `${path}: ${value} is not one of those declared here; write one of ${allowed.join(', ')}`;
}

function badRanges({ network }: Config): string[] {
  const problems: string[] = [];
  for (const name of ['arrays', 'public'] as const) {
    const range = network[name];
    if (range !== undefined && !isIpv4Range(range))
      problems.push(`network.${name}: ${range} is not an IPv4 range; write one such as 127.64.0.0/16`);
  }
  if (problems.length === 0) problems.push(...overlapOfPublic(network, 'network.arrays', network.arrays));
  for (const name of ['shared_ports', 'vlans'] as const) {
    if (network[name].first > network[name].last)
      problems.push(`network.${name}: first is above last; swap them or correct one`);
  }
  return problems;
}

/** A public address must never be the address of another array. */
export function overlapOfPublic(network: Config['network'], name: string, arrays: string): string[] {
  if (network.public === undefined || !rangesOverlap(network.public, arrays)) return [];
  return [`network.public: ${network.public} overlaps ${name}, ${arrays}; choose ranges that share no address`];
}

export function isIpv4Range(text: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text);
}

function badEngines({ engine_types }: Config): string[] {
  return engine_types.flatMap((engine, index) =>
    engine.max_cache_gb < engine.base_cache_gb
      ? [
          `engine_types[${index}].max_cache_gb: must be at least its base_cache_gb; write ${engine.base_cache_gb} or more`,
        ]
      : [],
  );
}

function missingFeatures({ features }: Config): string[] {
  return features.fibre_channel
    ? ['features.fibre_channel: must be false; arrays of this cloud have no such ports']
    : [];
}

function badPolicyTypes({ policy_types }: Config): string[] {
  return policy_types.flatMap(({ data_fragments, parity_fragments }, index) =>
    (data_fragments === 0) === (parity_fragments === 0)
      ? []
      : [
          `policy_types[${index}]: data_fragments and parity_fragments must be both 0 (copies) or both above 0 (fragments); correct one`,
        ],
  );
}
