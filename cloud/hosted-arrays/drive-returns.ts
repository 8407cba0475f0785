import { fail, type Tx } from '@granary/kernel';
import { listDrivesOf, releaseDrive, type PlacedDriveRow } from '../inventory/repository.ts';
import { updateArray, type HostedRecord, type KeptSpec } from './repository.ts';

type Counts = Readonly<Record<string, number>>;

/**
 * What the portal wants, less what the array gave back since the portal last heard of it: a wish that was on its way
 * then must not bring the drive back.
 */
export function withoutReturned<S extends KeptSpec>(spec: S, before: HostedRecord | undefined): S {
  const returned = before?.spec.drives_returned ?? {};
  const unheard = minus(returned, spec.drives_returned ?? {});
  return { ...spec, drives: minus(spec.drives, unheard), drives_returned: returned };
}

/** Books a drive as free again; in the caller's transaction. */
export function takeBack(tx: Tx, array: HostedRecord, uuid: string, minimum: number): PlacedDriveRow {
  const held = listDrivesOf(tx, array.number);
  const drive = held.find((each) => each.uuid === uuid);
  if (!drive || !releaseDrive(tx, uuid, array.number)) throw fail('not_found', { kind: 'drive', id: uuid });
  if (held.length <= minimum) throw fail('cloud_full', { problem: `An array keeps at least ${minimum} drives.` });
  const { spec } = array;
  const one = { [drive.type]: 1 };
  const drives_returned = minus(spec.drives_returned ?? {}, { [drive.type]: -1 });
  updateArray(tx, array.number, { ...array, spec: { ...spec, drives: minus(spec.drives, one), drives_returned } });
  return drive;
}

function minus(from: Counts, taken: Counts): Record<string, number> {
  const rest: Record<string, number> = { ...from };
  for (const [type, count] of Object.entries(taken)) rest[type] = (rest[type] ?? 0) - count;
  return rest;
}
