import type { InputOf } from '@granary/contract';
import type { Inventory } from '@granary/contract/cloud';
import type { portalApi } from '@granary/contract/portal';
import type { FieldProblem } from '@granary/kernel';

type Order = InputOf<(typeof portalApi)['groups']['arrays']['create']>;

const NOT_OFFERED = 'is not offered by this cloud; leave it out';
const NEEDS_BLOCKS = 'is for storage arrays; object storage has none, so leave it out';
const NEEDS_OBJECTS = 'is for object storage; leave it out';
const PAIR = 2;

const ofBlocks = ['fibre_channel', 'flc_enabled', 'iscsi_dual_target_mode_enabled'] as const;
const ofObjects = ['array_zone_group_storage_policy_type_id', 'storage_profile'] as const;

/** What an order asks for and would not get. */
export function featureProblems(order: Order, inventory: Inventory): FieldProblem[] {
  const isBlock = order.kind === 'storage_array';
  const foreign = isBlock ? ofObjects : ofBlocks;
  const needs = isBlock ? NEEDS_OBJECTS : NEEDS_BLOCKS;
  return [
    ...problem('enterprise_suite', order.enterprise_suite, 'is not sold apart; every array has all features'),
    ...foreign.flatMap((field) => problem(field, order[field], needs)),
    ...(isBlock ? missing(order, inventory) : []),
    ...mirroredPairs(order),
  ];
}

function missing(order: Order, inventory: Inventory): FieldProblem[] {
  const offered = {
    fibre_channel: inventory.fibre_channel,
    flc_enabled: inventory.file_lifecycle,
    iscsi_dual_target_mode_enabled: inventory.iscsi_dual_target,
  };
  return ofBlocks.flatMap((field) => (offered[field] ? [] : problem(field, order[field], NOT_OFFERED)));
}

function mirroredPairs({ kind, create_raid_10_pools: isWanted, drives }: Order): FieldProblem[] {
  if (!isWanted) return [];
  const field = 'create_raid_10_pools';
  if (kind === 'object_storage') return [{ field, message: NEEDS_BLOCKS }];
  const hasPair = Object.values(drives).some((count) => count >= PAIR);
  return hasPair ? [] : [{ field, message: 'needs two drives of one type, which make a mirrored pair' }];
}

function problem(field: string, value: unknown, message: string): FieldProblem[] {
  return value === undefined ? [] : [{ field, message }];
}
