import { badParameter, fail, type Tx } from '@granary/kernel';
import type { Config } from '../config/schema.ts';
import { planInOneZone, planInZone, planOverZones, type Plan, type WantedDrives } from '../inventory/allocation.ts';
import type { Drive } from '../inventory/drive.ts';
import { countFree, countHeld, listDrivesOf, assignDrive } from '../inventory/repository.ts';
import type { HostedRecord, KeptSpec } from './repository.ts';
import { wantedDrives } from './spec-rules.ts';

interface AssignedDrives {
  /** The zone the array is in from now on. */
  readonly zone: string | null;
  readonly drivesGiven: number;
  readonly assigned: number;
}

/** Takes what the array lacks from the stock; in the caller's transaction, so either all of it or nothing. */
export function assignDrives(tx: Tx, config: Config, array: HostedRecord, spec: KeptSpec): AssignedDrives {
  const wanted = missingDrives(listDrivesOf(tx, array.number), spec);
  const plan = planFor(tx, config, array, spec, wanted);
  if ('shortage' in plan) {
    const { type, ...facts } = plan.shortage;
    throw fail('out_of_stock', { key: type, ...facts });
  }
  let number = array.drivesGiven;
  for (const pick of plan.picks) {
    number += 1;
    if (!assignDrive(tx, pick, array.number, number))
      throw new Error(`A free ${pick.type} of ${pick.node} is not there`);
  }
  return { zone: plan.zone, drivesGiven: number, assigned: plan.picks.length };
}

function planFor(
  tx: Tx,
  config: Config,
  array: HostedRecord,
  spec: KeptSpec,
  wanted: readonly WantedDrives[],
): Plan & { readonly zone: string | null } {
  const order = { wanted, free: countFree(tx), held: countHeld(tx, array.number) };
  const zone = array.zone ?? spec.zone;
  if (zone !== null) return { ...planInZone(order, zone), zone };
  if (spec.product === 'object_storage') return { ...planOverZones(order), zone: null };
  const plan = planInOneZone(
    order,
    config.zones.map(({ name }) => name),
  );
  return { ...plan, zone: plan.zone ?? null };
}

function missingDrives(held: readonly Drive[], spec: KeptSpec): WantedDrives[] {
  const counts = new Map<string, number>();
  for (const { type, policy } of held) counts.set(keyOf(type, policy), (counts.get(keyOf(type, policy)) ?? 0) + 1);
  const missing = wantedDrives(spec).map(({ type, policy, count }) => {
    const has = counts.get(keyOf(type, policy)) ?? 0;
    counts.delete(keyOf(type, policy));
    return { type, policy, count: count - has };
  });
  const shrinks = counts.size > 0 || missing.some(({ count }) => count < 0);
  if (shrinks) throw badParameter('spec', 'at drives: an array keeps the drives it has; ask for at least as many');
  return missing.filter(({ count }) => count > 0);
}

function keyOf(type: string, policy: string | null): string {
  return JSON.stringify([type, policy]);
}
